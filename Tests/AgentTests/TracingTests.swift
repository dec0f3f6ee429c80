import Foundation
import TestSupport
import Testing

/// B83, and row 6 of the threats: what other processes may do to the agent's.
@Suite(.serialized, .ownThreads, .timeLimit(.minutes(10))) struct `The memory of the agent` {
  /// Tries each way to another process's memory, and prints those that the kernel did not refuse.
  private static let attack = """
    import ctypes, errno, os, sys
    pid = int(sys.argv[1])
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long] * 4
    libc.ptrace.restype = ctypes.c_long
    libc.syscall.restype = ctypes.c_long
    def file(name):
        with open(f"/proc/{pid}/{name}", "rb") as f:
            return name == "mem" or f.read(1) is not None
    def call(result):
        if result < 0 and ctypes.get_errno() in (errno.EPERM, errno.EACCES):
            raise PermissionError
    def read():
        buffer = ctypes.create_string_buffer(8)
        class iovec(ctypes.Structure):
            _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
        here, there = iovec(ctypes.addressof(buffer), 8), iovec(0x400000, 8)
        call(libc.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0))
    def write():
        buffer = ctypes.create_string_buffer(8)
        class iovec(ctypes.Structure):
            _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
        here, there = iovec(ctypes.addressof(buffer), 8), iovec(8, 8)
        call(libc.process_vm_writev(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0))
    def descriptor():
        call(libc.syscall(438, os.pidfd_open(pid), 0, 0))
    def attach(request):
        call(libc.ptrace(request, pid, 0, 0))
        libc.ptrace(17, pid, 0, 0)
    ways = {name: (lambda name=name: file(name))
            for name in ("mem", "environ", "maps", "smaps", "auxv", "syscall", "pagemap")}
    ways |= {"fd": lambda: os.listdir(f"/proc/{pid}/fd"), "exe": lambda: os.readlink(f"/proc/{pid}/exe"),
             "cwd": lambda: os.readlink(f"/proc/{pid}/cwd"), "map_files": lambda: os.listdir(f"/proc/{pid}/map_files"),
             "process_vm_readv": read, "process_vm_writev": write, "pidfd_getfd": descriptor,
             "PTRACE_SEIZE": lambda: attach(0x4206), "PTRACE_ATTACH": lambda: attach(16)}
    for name, way in ways.items():
        # Whoever traces it already is refused a second time.
        if os.fork() == 0:
            try:
                way()
                print(name, flush=True)
            except PermissionError:
                pass
            os._exit(0)
        os.wait()
    """

  private static let all: Set<String> = [
    "mem", "environ", "maps", "smaps", "auxv", "syscall", "pagemap", "fd", "exe", "cwd",
    "map_files",
    "process_vm_readv", "process_vm_writev", "pidfd_getfd", "PTRACE_SEIZE", "PTRACE_ATTACH",
  ]

  /// The ways that are open to a user.
  private func ways(of user: OtherUser, to process: Int32) throws -> Set<String> {
    let ended = try user.run(["/usr/bin/python3", "-c", Self.attack, "\(process)"])
    try #require(ended.status == 0, "\(ended.text)")
    return Set(ended.text.split(separator: "\n").map(String.init))
  }

  /// A process of the user's that denies nobody anything; killed with the value.
  private final class Sleeper {
    let process = Process()

    init(_ plain: PlainUser) throws {
      let words = plain.through("ulimit -c unlimited")
      process.executableURL = URL(fileURLWithPath: words[0])
      process.currentDirectoryURL = URL(fileURLWithPath: plain.home.directory("run"))
      // Where only children may be traced, this one lets itself be traced by all.
      process.arguments =
        words.dropFirst() + [
          "/usr/bin/python3", "-c",
          """
          import ctypes, signal, time
          signal.pthread_sigmask(signal.SIG_SETMASK, [])
          ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1), 0, 0, 0)
          print("begun", flush=True)
          time.sleep(600)
          """,
        ]
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      #expect(output.fileHandleForReading.readData(ofLength: 5) == Data("begun".utf8))
    }

    deinit { kill(process.processIdentifier, SIGKILL) }
  }

  private static func owner(of process: Int32) throws -> Int {
    let facts = try FileManager.default.attributesOfItem(atPath: "/proc/\(process)/environ")
    return try #require(facts[.ownerAccountID] as? Int)
  }

  @Test func `is closed to its own user and to every other, however it was started`() throws {
    let plain = try PlainUser()
    let sleeper = try Sleeper(plain)
    let id = sleeper.process.processIdentifier
    // The tries are such that succeed.
    #expect(try ways(of: PlainUser.user, to: id) == Self.all)
    #expect(try Self.owner(of: id) == PlainUser.user.id)
    #expect(try ways(of: .stranger, to: id) == [])
    for (name, options) in [("vault-agent", []), ("vault", []), ("vault", ["--background"])] {
      let started = try plain.start(
        plain.home.withKeyFile + options, name: name, shell: "ulimit -c unlimited")
      #expect(try waits { try plain.vault(["status"]) == 0 }, "\(started.log)")
      let agent = try plain.home.holder()
      // Nor once it was locked and unlocked.
      for words in [["status"], ["lock"], ["unlock"] + plain.home.withPassphrase] {
        #expect(try plain.vault(words) == 0)
        #expect(try ways(of: PlainUser.user, to: agent) == [], "\(name) \(options) \(words)")
        #expect(try ways(of: .stranger, to: agent) == [], "\(name) \(options) \(words)")
        // Of a process that may not be dumped, root owns the files.
        #expect(try Self.owner(of: agent) == 0, "\(name) \(options) \(words)")
      }
      #expect(kill(agent, SIGTERM) == 0)
      #expect(waits { !FileManager.default.fileExists(atPath: started.owner) })
    }
  }

  @Test func `is in no core, where the shell that started it allows any`() throws {
    let plain = try PlainUser()
    let pattern = try String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8)
    func cores(_ name: String = "") throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: plain.home.directory(name))
        .filter { $0.hasPrefix("core") }
    }
    for signal in [SIGABRT, SIGSEGV, SIGQUIT] {
      let started = try plain.start(
        plain.home.withKeyFile, name: "vault", shell: "ulimit -c unlimited")
      #expect(waits { started.log.contains(" ready ") }, "\(started.log)")
      let limits = try String(
        contentsOfFile: "/proc/\(started.processIdentifier)/limits", encoding: .utf8)
      let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") } ?? ""
      // The hard limit stays, for children.
      #expect(core.split(separator: " ").dropFirst(4).prefix(2) == ["0", "unlimited"], "\(core)")
      started.signal(signal)
      #expect(started.end() == -signal)
      #expect(try cores().isEmpty)
    }
    // Another program of the user's does leave one, where the machine writes them here.
    guard pattern.hasPrefix("core") else { return }
    let sleeper = try Sleeper(plain)
    kill(sleeper.process.processIdentifier, SIGABRT)
    #expect(waits { !sleeper.process.isRunning })
    #expect(try !cores("run").isEmpty)
  }
}
