// swift-tools-version: 6.2
import PackageDescription

// The parts and their floors are told in Documentation/Parts.md; `Scripts/check` holds every import
// against that table.

let strict: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let tests: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
]

func part(_ name: String, _ below: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
  .target(name: name, dependencies: below, resources: resources, swiftSettings: strict)
}

func suite(_ name: String, _ parts: [Target.Dependency], resources: [Resource] = []) -> Target {
  .testTarget(name: name, dependencies: parts, resources: resources, swiftSettings: tests)
}

let package = Package(
  name: "AccountVault",
  products: [
    .library(name: "AccountVault", targets: ["AccountVault"]),
    .library(name: "AccountVaultClient", targets: ["AccountVaultClient"]),
    .executable(name: "vault", targets: ["vault"]),
    .executable(name: "vault-agent", targets: ["vault-agent"]),
  ],
  targets: [
    // 0: C libraries
    .systemLibrary(name: "CSodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CCrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CMicroHTTPD", providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(name: "CQREncode", providers: [.apt(["libqrencode-dev"])]),
    .target(name: "CSystem"),
    // 1: values that everything shares
    part("Encoding"),
    part("Faults"),
    part("Time", ["CSystem"]),
    // 2: each the only importer of its C library
    part("Sodium", ["CSodium", "Encoding"]),
    part("SQLite", ["CSQLite"]),
    part("FileSystem", ["CSystem"]),
    part("QRCode", ["CQREncode"]),
    part("UnixSocket", ["CSystem"]),
    // 3: what is made of those
    part("HTTPTypes", ["Sodium"]),
    part("JSON", ["Sodium", "SQLite"]),
    part("Crypto", ["CCrypto", "Sodium"]),
    part("Listener", ["CMicroHTTPD", "Sodium", "Time"]),
    .target(
      name: "Migrations", path: "Migrations", exclude: ["CHECKSUMS"],
      resources: [.embedInCode("m0001_vault.sql")], swiftSettings: strict),
    // 4: the nouns
    part("Accounts", ["Encoding", "Time", "Sodium"]),
    part("Ledger", ["Encoding", "Time", "Sodium"]),
    part("OAuth", ["Encoding", "Time", "Sodium", "JSON"]),
    .target(
      name: "Providers", dependencies: ["Encoding", "Time", "Sodium", "JSON"],
      resources: [.embedInCode("Definitions")], swiftSettings: strict),
    part("HTTP", ["CCurl", "HTTPTypes", "Sodium", "Encoding"]),
    part("Store", ["Encoding", "Faults", "Sodium", "SQLite", "FileSystem", "Migrations"]),
    // 5: the library
    part(
      "AccountVault",
      [
        "Accounts", "Ledger", "Providers", "Store", "Encoding", "Faults", "Time", "Sodium",
        "SQLite", "FileSystem", "JSON", "HTTPTypes", "OAuth",
      ]),
    // 6: the command
    part(
      "Command",
      [
        "AccountVault", "Faults", "Time", "Sodium", "FileSystem", "JSON", "UnixSocket", "CSystem",
      ]),
    part(
      "AccountVaultNetwork",
      [
        "AccountVault", "HTTP", "HTTPTypes", "Listener", "QRCode", "Crypto", "OAuth", "Providers",
        "Encoding", "Faults", "FileSystem", "Sodium", "Time", "CSystem",
      ]),
    // 7: the commands that need the network
    part(
      "NetworkCommand",
      [
        "Command", "AccountVault", "AccountVaultNetwork", "Accounts", "Providers", "OAuth",
        "HTTPTypes", "QRCode", "Encoding", "Faults", "FileSystem", "Sodium", "Time", "JSON",
      ]),
    // 8: the agent, and what programs in Swift ask it with
    .target(
      name: "Agent",
      dependencies: [
        "NetworkCommand", "Command", "AccountVault", "AccountVaultNetwork", "Accounts", "Ledger",
        "Providers", "OAuth", "Listener", "UnixSocket", "HTTPTypes", "JSON", "Encoding", "Faults",
        "FileSystem", "Sodium", "Time", "CSystem",
      ], resources: [.embedInCode("openapi.json")], swiftSettings: strict),
    part("AccountVaultClient", ["UnixSocket"]),
    // 9: executables
    .executableTarget(name: "vault", dependencies: ["Command"], swiftSettings: strict),
    .executableTarget(
      name: "vault-agent", dependencies: ["Agent", "Command"], swiftSettings: strict),
    // What Scripts/bench measures the library with; no product.
    .executableTarget(
      name: "vault-bench",
      dependencies: [
        "AccountVault", "Accounts", "Ledger", "Faults", "FileSystem", "Sodium", "Time",
      ],
      path: "Sources/Benchmarks", swiftSettings: strict),
    // The same of what the network needs, so that the other loads no libcurl.
    .executableTarget(
      name: "vault-network-bench",
      dependencies: [
        "AccountVault", "AccountVaultNetwork", "Faults", "FileSystem", "HTTP", "HTTPTypes", "OAuth",
        "Sodium", "Time",
      ],
      path: "Sources/NetworkBenchmarks", swiftSettings: strict),
    // Tests
    suite("EncodingTests", ["Encoding"]),
    suite("TimeTests", ["Time"]),
    suite("SodiumTests", ["Sodium", "Encoding"]),
    suite("CryptoTests", ["Crypto", "Encoding", "Sodium", "TestSupport"]),
    suite("LedgerTests", ["Ledger", "Encoding", "Time", "Sodium"]),
    suite("AccountsTests", ["Accounts", "Encoding", "Time", "Sodium"]),
    .target(
      name: "TestSupport", dependencies: ["Listener"], path: "Tests/TestSupport",
      swiftSettings: tests),
    suite("ListenerTests", ["Listener", "TestSupport", "UnixSocket", "Sodium"]),
    suite("SQLiteTests", ["SQLite", "TestSupport"]),
    suite("QRCodeTests", ["QRCode", "TestSupport"]),
    suite(
      "RedirectTests", ["AccountVaultNetwork", "Listener", "Faults", "Time", "TestSupport"]),
    suite("FileSystemTests", ["FileSystem", "TestSupport"]),
    suite("JSONTests", ["JSON", "SQLite", "Sodium", "TestSupport"]),
    suite(
      "OAuthTests", ["OAuth", "Crypto", "Encoding", "JSON", "Sodium", "Time", "TestSupport"]),
    suite(
      "RequestTests",
      [
        "AccountVault", "AccountVaultNetwork", "Crypto", "HTTPTypes", "OAuth", "Providers",
        "Ledger", "Accounts", "Encoding", "Faults", "JSON", "Time", "Sodium", "HTTP", "Listener",
        "TestSupport",
      ]),
    .testTarget(
      name: "HTTPTests", dependencies: ["HTTP", "HTTPTypes", "Sodium", "Encoding", "TestSupport"],
      exclude: ["server.py"], swiftSettings: tests),
    suite(
      "RenewalTests",
      [
        "AccountVault", "AccountVaultNetwork", "Accounts", "Encoding", "Faults", "HTTP",
        "HTTPTypes", "Ledger", "Listener", "OAuth", "Providers", "SQLite", "Sodium", "Store",
        "Time",
        "TestSupport", "vault", "vault-agent",
      ]),
    suite("ProvidersTests", ["Providers", "Time", "Sodium"]),
    suite(
      "AccountVaultTests",
      [
        "AccountVault", "Store", "Accounts", "Ledger", "Providers", "Encoding", "Faults", "Time",
        "Sodium", "SQLite", "FileSystem", "TestSupport",
      ]),
    // What a provider says outside a renewal
    suite(
      "RemoteTests",
      [
        "AccountVault", "AccountVaultNetwork", "HTTP", "HTTPTypes", "Providers", "OAuth",
        "Accounts",
        "Ledger", "Faults", "Time", "Sodium", "Store", "Listener", "TestSupport",
      ]),
    // Whole sign-ins at scripted providers
    suite(
      "SignInTests",
      [
        "AccountVault", "AccountVaultNetwork", "HTTP", "HTTPTypes", "Listener", "Providers",
        "OAuth", "Accounts", "Ledger", "Faults", "Time", "Sodium", "TestSupport",
      ]),
    .testTarget(
      name: "CommandTests",
      dependencies: ["Command", "vault", "AccountVault", "Store", "Sodium", "Time", "JSON"],
      exclude: ["Snapshots"], swiftSettings: tests),
    .testTarget(
      name: "NetworkCommandTests",
      dependencies: [
        "NetworkCommand", "Command", "vault", "vault-agent", "AccountVault", "QRCode", "JSON",
        "Sodium", "Listener", "TestSupport",
      ],
      swiftSettings: tests),
    // The agent and its client, as processes on real sockets
    suite(
      "AgentTests",
      [
        "Agent", "vault", "vault-agent", "AccountVault", "AccountVaultClient", "Command",
        "Listener", "UnixSocket", "Accounts", "Ledger", "Faults", "JSON", "Sodium", "Time",
        "Encoding", "FileSystem", "Providers", "OAuth", "HTTPTypes", "AccountVaultNetwork", "Store",
        "TestSupport",
      ]),
    suite(
      "ClientTests",
      ["AccountVaultClient", "UnixSocket", "Listener", "vault", "vault-agent", "TestSupport"]),
    // What other programs, kills, power losses and full disks do to the file
    .target(
      name: "TamperSupport", dependencies: ["AccountVault", "Accounts", "Faults"],
      path: "Tests/TamperSupport", swiftSettings: tests),
    .executableTarget(
      name: "crash-driver", dependencies: ["TamperSupport", "AccountVault", "Faults"],
      path: "Tests/CrashDriver", swiftSettings: tests),
    suite(
      "TamperTests",
      [
        "TamperSupport", "TestSupport", "AccountVault", "Accounts", "Store", "Encoding", "Faults",
        "Sodium",
        "Time",
        "crash-driver",
      ]),
    suite(
      "CrashTests", ["TamperSupport", "TestSupport", "AccountVault", "Faults", "crash-driver"]),
    // The command as it is run, compared whole
    suite("TranscriptTests", ["vault", "vault-agent"]),
    // Another program, written by Documentation/Format.md, reads what the library wrote
    suite("FormatTests", ["AccountVault", "Accounts", "TestSupport"]),
    // Against OAuth servers that others wrote, which Tests/Peers starts
    suite(
      "PeerTests",
      [
        "vault", "vault-agent", "AccountVault", "AccountVaultNetwork", "OAuth", "Sodium", "Time",
        "TestSupport",
      ]),
    // What Scripts/check finds
    suite("ScriptTests", []),
  ],
  swiftLanguageModes: [.v6]
)

// `VAULT_SUITES=OAuthTests,StoreTests swift test` builds no other suites, which saves most of the time
// that a small change costs.
if let wanted = Context.environment["VAULT_SUITES"], !wanted.isEmpty {
  let names = wanted.split(separator: ",").map(String.init)
  package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}
