import AccountVault
import Foundation
import Testing

@Suite struct `A vault` {
  @Test func `does its main job`() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "vault-\(UUID())")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(at: directory) }
    var options = Vault.CreationOptions()
    options.session.headDirectory = directory.path + "/state"
    var key = [UInt8](repeating: 7, count: 32)
    let path = directory.path + "/v.vault"
    do {
      let created = try Vault.create(
        at: path, passphrase: nil, keyFile: Secret(wiping: &key), options: options)
      var body = Array(
        #"{"access_token":"EAAsecret","token_type":"bearer","expires_in":5183999}"#.utf8)
      let account = try created.session.addAccount(
        NewAccount(type: "facebook", username: "lestat"),
        credential: .response(Secret(wiping: &body)))
      let outcome = try created.session.grant(
        Decision(app: "123", permissions: ["publish_actions"]))
      #expect(outcome.account.id == account.id)
      let token = try created.session.token(app: "123", permissions: ["publish_actions"])
      #expect(
        token.withBytes { span in span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
          == "EAAsecret")
      let result = try created.session.verify()
      #expect(result.anchored)
      print(result)
      try created.session.history(HistoryQuery()) { print($0) }
    }
    key = [UInt8](repeating: 7, count: 32)
    var unlock = Vault.UnlockOptions()
    unlock.headDirectory = directory.path + "/state"
    let session = try Vault.open(at: path).unlock(
      with: .keyFile(Secret(wiping: &key)), options: unlock)
    print(session.warnings)
    #expect(try session.verify().entries > 3)
  }
}
