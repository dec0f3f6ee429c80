// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "AppClient",
  dependencies: [.package(name: "AccountVault", path: "../..")],
  targets: [
    .executableTarget(
      name: "AppClient",
      dependencies: [.product(name: "AccountVaultClient", package: "AccountVault")])
  ],
  swiftLanguageModes: [.v6]
)
