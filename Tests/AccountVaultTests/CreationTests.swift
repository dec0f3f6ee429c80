import AccountVault
import Foundation
import Glibc
import Store
import TestSupport
import Testing

@Suite struct `A new vault` {
  @Test func `does its main job`() throws {
    let place = try Place()
    let session = try place.create()
    try session.addFacebook(token: "EAAsecret")
    let outcome = try session.grant(Decision(app: "123", permissions: ["publish_actions"]))
    #expect(outcome.recordedApp)
    #expect(try session.tokenText(["publish_actions"]) == "EAAsecret")
    #expect(
      try session.entries().map(\.event) == [
        .vaultCreated, .accountAdded, .appAdded, .granted, .tokenUsed,
      ])
    #expect(try session.verify().anchored)
  }

  @Test func `is not made where something is`() throws {
    let place = try Place()
    for taken in ["file", "link", "directory"] {
      let path = place.directory(taken)
      switch taken {
      case "file": try Data("mine".utf8).write(to: URL(filePath: path))
      case "link":
        try FileManager.default.createSymbolicLink(
          atPath: path, withDestinationPath: place.directory("nowhere"))
      default:
        try FileManager.default.createDirectory(
          atPath: path, withIntermediateDirectories: false)
      }
      let options = place.creation
      let error = refusal { () throws(VaultError) in
        try Vault.create(at: path, passphrase: nil, keyFile: .key(), options: options)
      }
      #expect(error.code == .exists, "\(taken)")
    }
    #expect(try place.directory.names() == ["directory", "file", "link"])
    #expect(try Data(contentsOf: URL(filePath: place.directory("file"))) == Data("mine".utf8))
  }

  @Test func `is for its owner alone, whatever the umask says`() async throws {
    await #expect(processExitsWith: .success) {
      umask(0)
      let place = try Place()
      let path = place.directory("deep/er/accounts.vault")
      var options = place.creation
      options.session.headDirectory = place.directory("heads/vault")
      do {
        let created = try Vault.create(
          at: path, passphrase: nil, keyFile: .key(), options: options)
        try created.session.addFacebook()
        try created.session.backUp(to: place.directory("deep/copy"))
        for (name, mode) in try modes(below: place.directory.path) {
          #expect(mode & 0o077 == 0, "\(name) has mode \(String(mode, radix: 8))")
        }
        #expect(try modes(below: place.directory.path).count >= 9)
      }
    }
  }

  @Test func `has a slot for the passphrase and one for the key file`() throws {
    let place = try Place()
    var creation = place.creation
    creation.makesRecoveryCode = true
    let code: String
    do {
      var created = try Vault.create(
        at: place.path, passphrase: .text("correct horse"), keyFile: .key(), options: creation)
      #expect(
        try created.session.keys().map(\.kind) == ["passphrase", "key_file", "recovery"])
      #expect(try created.session.keys().map(\.number) == [1, 2, 3])
      code = created.recoveryCode.take()?.shown ?? ""
    }
    let options = place.unlocking
    for typed in ["correct horse", code, code.uppercased(), code.replacing("-", with: "")] {
      let session = try Vault.open(at: place.path).unlock(
        with: .passphrase(.text(typed)), options: options)
      #expect(try session.keys().filter(\.isInUse).count == 1)
    }
    #expect(try place.open().keys().first(where: \.isInUse)?.kind == "key_file")
  }

  @Test func `has no recovery code where none is wanted`() throws {
    let place = try Place()
    var created = try Vault.create(
      at: place.path, passphrase: nil, keyFile: .key(), options: place.creation)
    let code = created.recoveryCode.take()?.shown
    #expect(code == nil)
    #expect(try created.session.keys().map(\.kind) == ["key_file"])
  }

  @Test func `needs something that opens it`() throws {
    let place = try Place()
    let options = place.creation
    let nothing = refusal { () throws(VaultError) in
      try Vault.create(at: place.path, passphrase: nil, keyFile: nil, options: options)
    }
    #expect(nothing.code == .locked)
    let empty = refusal { () throws(VaultError) in
      try Vault.create(at: place.path, passphrase: .text(""), keyFile: nil, options: options)
    }
    #expect(empty.code == .usage)
    let short = refusal { () throws(VaultError) in
      try Vault.create(at: place.path, passphrase: nil, keyFile: .text("short"), options: options)
    }
    #expect(short.code == .usage)
    #expect(try place.directory.names() == [])
  }

  @Test(arguments: [(1, 3), (18 << 20, 3), (1 << 40, 3), (64 << 20, 0), (64 << 20, 11)])
  func `refuses key settings outside of the bounds`(_ memory: Int, _ operations: Int) throws {
    let place = try Place()
    var options = place.creation
    options.cost = KeyDerivationCost(memoryBytes: UInt64(memory), operations: operations)
    let error = refusal { () throws(VaultError) in
      try Vault.create(at: place.path, passphrase: .text("words"), keyFile: nil, options: options)
    }
    #expect(error.code == .usage)
    #expect(try place.directory.names() == [])
  }

  @Test func `is not there where its head has no place`() throws {
    let place = try Place()
    // A file where a directory must be.
    try Data().write(to: URL(filePath: place.directory("state")))
    var options = place.creation
    options.session.headDirectory = place.directory("state/vault")
    _ = refusal { () throws(VaultError) in
      try Vault.create(at: place.path, passphrase: nil, keyFile: .key(), options: options)
    }
    #expect(try place.directory.names() == ["state"])
  }
}

@Suite struct `Unlocking` {
  @Test func `with a wrong passphrase three times changes nothing, and the right one works`()
    throws
  {
    let place = try Place()
    do {
      let created = try Vault.create(
        at: place.path, passphrase: .text("right"), keyFile: nil, options: place.creation)
      try created.session.addFacebook()
    }
    let before = try place.bytes()
    let options = place.unlocking
    let vault = try Vault.open(at: place.path)
    for wrong in ["wrong", "right ", ""] {
      let error = refusal { () throws(VaultError) in
        try vault.unlock(with: .passphrase(.text(wrong)), options: options)
      }
      #expect(error.code == .wrongKey)
    }
    let error = refusal { () throws(VaultError) in
      try vault.unlock(with: .keyFile(.key(9)), options: options)
    }
    #expect(error.code == .wrongKey)
    #expect(try place.bytes() == before)
    let session = try vault.unlock(with: .passphrase(.text("right")), options: options)
    #expect(try session.account("lestat").type == "facebook")
  }

  @Test func `refuses key settings above the bound unless it is told to try`() throws {
    let place = try Place()
    _ = try VaultCreation(
      passphrase: .init(copying: Array("words".utf8).span.bytes), keyFile: nil, recovery: nil,
      cost: KeyCost(operations: 11, memoryBytes: 8 << 20, allowExpensive: true), day: 0
    ).make(at: place.path) { (_) throws(VaultError) in }
    var options = place.unlocking
    let error = refusal { () throws(VaultError) in
      try Vault.open(at: place.path).unlock(with: .passphrase(.text("words")), options: options)
    }
    #expect(error.code == .damaged && error.reason == .tooExpensive)
    options.allowsExpensiveKeySettings = true
    let session = try Vault.open(at: place.path).unlock(
      with: .passphrase(.text("words")), options: options)
    #expect(try session.keys().count == 1)
  }

  @Test func `on a machine without the memory is no wrong passphrase`() async throws {
    await #expect(processExitsWith: .success) {
      let place = try Place()
      var creation = place.creation
      creation.cost = KeyDerivationCost(memoryBytes: 512 << 20, operations: 1)
      do {
        _ = try Vault.create(
          at: place.path, passphrase: .text("words"), keyFile: nil, options: creation)
      }
      let used = try #require(kibibytes("VmSize")) << 10
      var limit = rlimit(rlim_cur: rlim_t(used + 128 << 20), rlim_max: rlim_t(used + 128 << 20))
      setrlimit(__rlimit_resource_t(9), &limit)
      let options = place.unlocking
      let error = refusal { () throws(VaultError) in
        try Vault.open(at: place.path).unlock(with: .passphrase(.text("words")), options: options)
      }
      #expect(error.code == .io && error.reason == .outOfMemory)
      #expect(error.message.contains("512 MiB"))
    }
  }

  @Test func `a file that is no vault says so and touches nothing`() throws {
    let place = try Place()
    let contents: [(String, Data, VaultError.Code)] = [
      ("empty", Data(), .damaged), ("text", Data("hello".utf8), .damaged),
      ("noise", Data(repeating: 0x5a, count: 9000), .damaged),
    ]
    for (name, data, code) in contents {
      let path = place.directory(name)
      try data.write(to: URL(filePath: path))
      let error = refusal { () throws(VaultError) in try Vault.open(at: path) }
      #expect(error.code == code && error.reason == .foreignFile, "\(name)")
      #expect(try Data(contentsOf: URL(filePath: path)) == data)
    }
    #expect(try place.directory.names() == ["empty", "noise", "text"])
    let missing = refusal { () throws(VaultError) in try Vault.open(at: place.path) }
    #expect(missing.code == .notFound)
  }

  @Test func `a vault of a later version leaves it untouched`() throws {
    let place = try Place()
    do { _ = try place.create() }
    var bytes = try place.fileBytes()
    bytes.replaceSubrange(60..<64, with: [0, 0, 0, 99])
    for suffix in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: place.path + suffix)
    }
    try bytes.write(to: URL(filePath: place.path))
    let error = refusal { () throws(VaultError) in try Vault.open(at: place.path) }
    #expect(error.code == .newerFormat)
    #expect(error.message.contains("99"))
    #expect(try place.fileBytes() == bytes)
    #expect(try place.directory.names() == ["accounts.vault", "state"])
  }
}

func modes(below path: String) throws -> [(String, Int)] {
  let names = FileManager.default.enumerator(atPath: path)?.allObjects as? [String] ?? []
  return try names.map { name in
    let facts = try FileManager.default.attributesOfItem(atPath: path + "/" + name)
    return (name, facts[.posixPermissions] as? Int ?? -1)
  }
}

/// A line of `/proc/self/status`, in KiB.
func kibibytes(_ name: String) -> Int? {
  let handle = FileHandle(forReadingAtPath: "/proc/self/status")
  let status = String(decoding: (try? handle?.readToEnd()) ?? Data(), as: UTF8.self)
  let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
  return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap {
    Int($0)
  }
}
