internal import CSystem
internal import Command
internal import Faults
internal import FileSystem
internal import Synchronization

/// The agent's place among the files of this run of the machine, held while the agent lives.
///
/// `${XDG_RUNTIME_DIR}/vault/ID` holds the sockets and `agent.lock`; `vault/by-file/DEVICE-INODE` is
/// a link to it, so that `vault` finds the agent of a vault file with one look at that file. Each of
/// the directories is 0700, ours, and no link, or the agent does not start.
final class RuntimePlace: Sendable {
  /// `${XDG_RUNTIME_DIR}/vault/ID`.
  let directory: String
  private let byFile: String
  private let vaultID: String
  private let vaultPath: String
  private let lock: FileLock
  private let pin = Mutex<Pin?>(nil)

  /// A hold on the vault's file, so that its inode means nothing else while the link names it.
  private struct Pin: ~Copyable {
    let file: Descriptor
    let link: String
  }

  /// Makes the directories and takes the lock.
  ///
  /// - Throws: `config` where no directory fits, `exists` where another agent holds this vault.
  init(
    vaultID: String, vaultPath: String, environment: ProcessEnvironment
  ) throws(CommandFailure) {
    let runtime = try Self.runtimeDirectory(environment)
    self.vaultID = vaultID
    self.vaultPath = vaultPath
    directory = "\(runtime)/vault/\(vaultID)"
    byFile = "\(runtime)/vault/by-file"
    let lockFile = "\(directory)/agent.lock"
    let taken: FileLock?
    do throws(FileError) {
      try Files.checkDirectory(runtime)
      for path in ["\(runtime)/vault", directory, byFile] {
        try Files.makePrivateDirectory(path)
      }
      taken = try FileLock.acquire(lockFile, byte: 0, wait: false)
    } catch {
      throw CommandFailure(
        .config, "\(error.path): \(error.operation): \(error.text)",
        hint: "ls -ld \(ShellText.quoted(error.path))")
    }
    switch consume taken {
    case .some(let taken): lock = taken
    case .none:
      let holder = Self.holder(lockFile).map { " as process \($0)" } ?? ""
      throw CommandFailure(
        .exists, "the agent of this vault is already running\(holder)", hint: "vault status")
    }
    do throws(FileError) {
      // Closing another descriptor of it drops no lock of this kind.
      let file = try Files.openExisting(lockFile, write: true)
      try file.resize(to: 0)
      try file.write(Array("\(RunningProcess.current)\n".utf8))
    } catch {
      throw CommandFailure(.io, "\(lockFile): \(error.text)")
    }
  }

  /// `$XDG_RUNTIME_DIR`, else `/run/user/UID` where that is there and ours.
  static func runtimeDirectory(_ environment: ProcessEnvironment) throws(CommandFailure) -> String {
    if let path = try environment.value("XDG_RUNTIME_DIR"), path.hasPrefix("/") {
      return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }
    let user = vault_effective_user()
    let usual = "/run/user/\(user)"
    if let facts = try? Files.inspect(usual), facts.kind == .directory, facts.owner == user {
      return usual
    }
    throw CommandFailure(
      .config, "$XDG_RUNTIME_DIR is not set, \(usual) is not there, and the sockets stand in one",
      hint: "export XDG_RUNTIME_DIR=DIRECTORY")
  }

  /// The process that the lock file names, where it lives. One that has just taken the lock writes
  /// its number at once.
  private static func holder(_ path: String) -> Int32? {
    for attempt in 0..<40 {
      if attempt > 0 { _ = vault_wait_readable(nil, 0, 50) }
      guard let bytes = try? Files.openExisting(path, write: false).readAll(maximum: 32),
        bytes.last == UInt8(ascii: "\n"),
        let process = Int32(String(decoding: bytes.dropLast(), as: UTF8.self)),
        RunningProcess.startTime(of: process) != nil
      else { continue }
      return process
    }
    return nil
  }

  /// Has the link of the vault's file lead here: at the start, and after the file was replaced.
  func index() throws(CommandFailure) {
    var device: UInt64 = 0
    var inode: UInt64 = 0
    // Two variables of ours, lent for the call.
    let number = unsafe vault_hold_file(vaultPath, &device, &inode)
    guard number >= 0 else {
      throw CommandFailure(.io, "\(vaultPath): \(SystemText.of(vault_errno()))")
    }
    let file = Descriptor(adopting: number, path: vaultPath)
    let link = "\(byFile)/\(Self.name(device: device, inode: inode))"
    do throws(FileError) {
      try Files.putLink(to: "../\(vaultID)", at: link)
    } catch {
      throw CommandFailure(.io, "\(link): \(error.text)")
    }
    var taken = Optional(Pin(file: file, link: link))
    let old = self.link
    pin.withLock { $0 = taken.take() }
    if let old, old != link { remove(old) }
  }

  /// `DEVICE-INODE` in hexadecimal.
  static func name(device: UInt64, inode: UInt64) -> String {
    "\(String(device, radix: 16))-\(String(inode, radix: 16))"
  }

  /// Takes the link away, if it still leads here.
  func removeIndex() {
    if let link { remove(link) }
  }

  private var link: String? {
    pin.withLock { pin in
      switch pin {
      case .some(let pin): pin.link
      case .none: nil
      }
    }
  }

  private func remove(_ link: String) {
    if Files.linkTarget(link) == "../\(vaultID)" { try? Files.remove(link) }
  }
}
