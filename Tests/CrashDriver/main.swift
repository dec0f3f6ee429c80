import AccountVault
import Faults
import Foundation
import TamperSupport

// One operation on one vault in a process of its own, to be killed, starved or traced.
// `crash-driver OPERATION DIRECTORY [ARGUMENT…]`; what came of it is one line: `ok`, or the error.

signal(SIGXFSZ, SIG_IGN)
signal(SIGPIPE, SIG_IGN)
let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 2 else {
  print("usage: crash-driver OPERATION DIRECTORY [ARGUMENT…]")
  exit(64)
}
do throws(VaultError) {
  let sample = SampleVault(in: arguments[1])
  let rest = Array(arguments.dropFirst(2))
  if let operation = VaultOperation(rawValue: arguments[0]) {
    // Not buffered: it is told when it leaves.
    func say(_ line: String) { _ = line.withCString { write(1, $0, strlen($0)) } }
    var isSaid = false
    try operation.run(on: sample) { token in
      say("ok \(token)\n")
      isSaid = true
    }
    if !isSaid { say("ok\n") }
  } else if arguments[0] == "scenario" {
    try Scenario(sample).run()
    print("ok")
  } else if arguments[0] == "sweep" {
    try Sweep(sample, rest).run()
  } else if arguments[0] == "unlock" {
    _ = try sample.unlock(passphrase: rest[0])
    print("ok")
  } else if arguments[0] == "named" {
    // A path as a user may give it.
    var key = [UInt8](repeating: SampleVault.key, count: 32)
    var options = Vault.CreationOptions()
    options.session = sample.options()
    let created = try Vault.create(
      at: rest[0], passphrase: nil, keyFile: Secret(wiping: &key), options: options)
    try SampleVault.addLestat(created.session)
    let again = try Vault.open(at: rest[0]).unlock(
      with: SampleVault.key(SampleVault.key), options: sample.options())
    print("ok", try again.entryCount())
  } else if arguments[0] == "everything" {
    try sample.createFull()
    try VaultOperation.backup.run(on: sample)
    try VaultOperation.removeKey.run(on: sample)
    try VaultOperation.token.run(on: sample)
    print("ok")
  } else {
    print("usage: no operation \(arguments[0])")
    exit(64)
  }
} catch {
  print("error", error.code.rawValue, error.reason.rawValue, error.message)
  exit(1)
}
