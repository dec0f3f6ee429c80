// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Embedding",
  dependencies: [.package(name: "AccountVault", path: "../..")],
  targets: [
    .executableTarget(
      name: "Embedding",
      dependencies: [.product(name: "AccountVault", package: "AccountVault")])
  ],
  swiftLanguageModes: [.v6]
)
