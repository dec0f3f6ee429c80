import Time
import Encoding
public import Faults
import FileSystem
import SQLite
import Sodium
import Store

/// One thing that was looked at around a vault.
public struct Finding: Sendable {
  /// How grave a finding is.
  public enum State: String, Sendable {
    /// As it should be.
    case ok
    /// It works, and something should be done.
    case warning
    /// It does not work.
    case error
  }

  /// What was looked at, in a word or two.
  public let check: String
  /// How grave it is.
  public let state: State
  /// What was found, in a line.
  public let detail: String
  /// A command that helps.
  public let hint: String?
  /// The error behind a finding that is one.
  public let error: VaultError?

  init(
    _ check: String, _ state: State, _ detail: String, hint: String? = nil,
    error: VaultError? = nil
  ) {
    self.check = check
    self.state = state
    self.detail = detail
    self.hint = hint
    self.error = error
  }
}

extension Vault {
  /// Looks for trouble around a vault, without a key and without changing anything in it.
  public static func examine(
    _ path: String, options: UnlockOptions = UnlockOptions(), allowNetworkFileSystem: Bool = false
  ) -> [Finding] {
    var findings = [files(of: path), directory(of: path), space(at: path)]
    do throws(VaultError) {
      let vault = try Vault.open(at: path, allowNetworkFileSystem: allowNetworkFileSystem)
      findings.append(
        Finding(
          "vault", .ok,
          "id \(vault.id), \(vault.accountCount) accounts, \(vault.entryCount) entries"))
      findings += vault.warnings.map { Finding("mode", .warning, $0) }
      findings += try vault.findings(options)
    } catch {
      findings.append(Finding("vault", .error, error.message, hint: error.hint, error: error))
    }
    return findings + machine(options)
  }

  private func findings(_ options: UnlockOptions) throws(VaultError) -> [Finding] {
    let file = try takeFile()
    var findings: [Finding] = []
    for slot in file.slots {
      var detail = "slot \(slot.number): \(slot.kind.name)"
      var state = Finding.State.ok
      if slot.kind == .passphrase {
        detail += ", Argon2id \(slot.hash.memoryBytes >> 20) MiB, \(slot.hash.operations) passes"
        if slot.hash.memoryBytes > MachineMemory.bytes / 2 {
          state = .warning
          detail += ": more than half of this machine's memory"
        }
      }
      findings.append(Finding("key", state, detail))
    }
    let waiting = file.state[.revocation].rows
    if waiting > 0 {
      findings.append(
        Finding(
          "revocations", .warning,
          "\(waiting) that the provider was not told yet: they are tried again",
          hint: "vault renew"))
    }
    if !file.slots.contains(where: { $0.kind == .recovery }) {
      findings.append(
        Finding("key", .warning, "there is no recovery code", hint: "vault add-key --recovery"))
    }
    if let head = try HeadDirectory.head(of: file.state, in: options.headDirectory) {
      let isBehind = head.counter > file.state.counter
      findings.append(
        isBehind
          ? Finding(
            "head", .error, "the file is older than the last head seen outside it",
            hint: "vault verify",
            error: VaultError(.damaged, "the vault file is older than the last one seen"))
          : Finding("head", .ok, "outside the file, at state \(head.counter)"))
    } else {
      findings.append(
        Finding(
          "head", .warning,
          "none outside the file at the usual place; a vault may keep it elsewhere, or keep none",
          hint: "vault verify"))
    }
    return findings
  }

  private static func files(of path: String) -> Finding {
    guard let facts = try? Files.inspect(path) else {
      return Finding(
        "file", .error, "\(path) is not there", hint: "vault init", error: .noVault(at: path))
    }
    let log = (try? Files.inspect(path + "-wal")) ?? nil
    let mode = String(facts.mode & 0o7777, radix: 8)
    let size = "\(facts.size) bytes, mode \(mode)"
    guard let log else { return Finding("file", .ok, size) }
    return Finding(
      "file", .ok,
      "\(size); \(log.size) bytes in its log: a copy by cp would lack them (vault backup does not)")
  }

  private static func directory(of path: String) -> Finding {
    do throws(FileError) {
      let resolved = try Files.resolvingDirectory(of: path)
      let directory = resolved.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
      try Files.checkDirectory(directory.isEmpty ? "/" : directory)
      switch try Files.fileSystem(of: resolved) {
      case .local: return Finding("directory", .ok, directory)
      case .network(let name):
        return Finding(
          "directory", .warning,
          "\(directory) is on a network file system (\(name)), where locks and syncs cannot be trusted"
        )
      }
    } catch {
      if error.kind == .notFound {
        return Finding("directory", .error, "\(error.path) is not there")
      }
      return Finding(
        "directory", .error, "\(error.path): \(error.operation)",
        hint: "chmod go-w \(ShellText.quoted(error.path))")
    }
  }

  private static func space(at path: String) -> Finding {
    let directory = path.contains("/") ? path : "."
    guard let free = try? Files.availableBytes(Files.resolvingDirectory(of: directory)) else {
      return Finding("space", .ok, "not known")
    }
    return free < 4 << 20
      ? Finding("space", .warning, "\(free >> 10) KiB free: writes may be refused")
      : Finding("space", .ok, "\(free >> 20) MiB free")
  }

  private static func machine(_ options: UnlockOptions) -> [Finding] {
    var findings = [
      Finding(
        "libraries", .ok, "SQLite \(SQLiteLibrary.version), libsodium \(SodiumLibrary.version)")
    ]
    // The first secret locks the pool's memory, or finds that it cannot.
    _ = SecretBytes(count: 32)
    findings.append(
      SecureMemory.isLocked
        ? Finding("memory", .ok, "\(MachineMemory.bytes >> 20) MiB; secrets are locked into it")
        : Finding(
          "memory", .warning, "secrets cannot be locked into memory and may be swapped out",
          hint: "ulimit -l"))
    let now = options.clock.now()
    // 2026-01-01: before it this program did not exist.
    findings.append(
      now.seconds < 1_767_225_600
        ? Finding("clock", .warning, "it says \(now): ends of tokens cannot be told")
        : Finding("clock", .ok, now.description))
    return findings
  }
}
