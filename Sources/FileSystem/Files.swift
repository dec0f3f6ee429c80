internal import CSystem
import Glibc

/// Files and directories by path. No call follows a symbolic link in the last component, but those that
/// say so.
package enum Files {
  /// Makes a file that was not there, open for reading and writing.
  ///
  /// It has exactly `mode` from its first moment: there is no time at which others could open it,
  /// and no umask that widens or narrows it.
  ///
  /// - Throws: ``FileError/Kind/exists`` for anything of that name, a dangling link too.
  package static func createNew(
    _ path: String, mode: UInt32 = 0o600
  ) throws(FileError) -> Descriptor {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let number = try unsafe SystemCall.run("create", path: path) { name in
      unsafe vault_open(name, flags, Int32(mode))
    }
    let file = Descriptor(adopting: number, path: path)
    try file.setMode(mode)
    return file
  }

  /// Opens a regular file that is there.
  ///
  /// - Throws: ``FileError/Kind/symbolicLink`` for a link, ``FileError/Kind/notRegular`` for what is
  ///   neither; a FIFO nobody writes does not make it wait.
  package static func openExisting(_ path: String, write: Bool) throws(FileError) -> Descriptor {
    let flags = (write ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
    return try openRegular(path, flags)
  }

  static func openRegular(_ path: String, _ flags: Int32) throws(FileError) -> Descriptor {
    let number = try unsafe SystemCall.run("open", path: path) { name in
      unsafe vault_open(name, flags, 0o600)
    }
    let file = Descriptor(adopting: number, path: path)
    guard try file.facts().kind == .regular else {
      throw FileError(errno: EINVAL, operation: "open", path: path, kind: .notRegular)
    }
    return file
  }

  /// Opens what is there and is no directory, to write to it as it is: a device, a FIFO. Links are
  /// followed, and a FIFO makes it wait for its reader.
  package static func openSpecial(_ path: String) throws(FileError) -> Descriptor {
    let number = try unsafe SystemCall.run("open", path: path) { name in
      unsafe vault_open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY, 0)
    }
    return Descriptor(adopting: number, path: path)
  }

  /// Makes the directory at `path` and those above it that are missing, each with mode 0700, and
  /// syncs the directory that each was made in. Existing ones stay as they are.
  package static func makeDirectories(_ path: String) throws(FileError) {
    var missing: [String] = []
    var next = FilePath(path)
    while try inspect(next.text) == nil {
      missing.append(next.text)
      next = next.parent
    }
    for directory in missing.reversed() {
      do {
        try unsafe SystemCall.run("make directory", path: directory) { unsafe mkdir($0, 0o700) }
      } catch  where error.kind == .exists {
        // Another process made it in between; what it is shows at its first use.
        continue
      }
      try syncDirectory(FilePath(directory).parent.text)
    }
    guard try isDirectory(path) else {
      throw FileError(errno: ENOTDIR, operation: "make directory", path: path)
    }
  }

  private static func isDirectory(_ path: String) throws(FileError) -> Bool {
    var status = stat()
    try unsafe SystemCall.run("inspect", path: path) { unsafe stat($0, &status) }
    return FileFacts(status).kind == .directory
  }

  /// What is at `path`, a link itself and not its target; nil when there is nothing.
  package static func inspect(_ path: String) throws(FileError) -> FileFacts? {
    var status = stat()
    do {
      try unsafe SystemCall.run("inspect", path: path) { unsafe lstat($0, &status) }
    } catch  where error.errno == ENOENT {
      return nil
    }
    return FileFacts(status)
  }

  /// What is at `path`, at the end of all links; nil when there is nothing.
  package static func target(of path: String) throws(FileError) -> FileFacts? {
    var status = stat()
    do {
      try unsafe SystemCall.run("inspect", path: path) { unsafe stat($0, &status) }
    } catch  where error.errno == ENOENT {
      return nil
    }
    return FileFacts(status)
  }

  /// Returns once the names in a directory are on the disk: after a file was made, renamed or removed.
  package static func syncDirectory(_ path: String) throws(FileError) {
    let number = try unsafe SystemCall.run("open", path: path) { name in
      unsafe vault_open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    }
    let directory = Descriptor(adopting: number, path: path)
    do {
      try directory.synchronizeFully()
    } catch  where error.errno == EINVAL {
      // The file system keeps no order of names that could be synced.
    }
  }

  /// Gives a file another name, in place of what had that name.
  package static func rename(_ path: String, to newPath: String) throws(FileError) {
    if newPath.isEmpty || newPath.utf8.contains(0) {
      throw FileError(errno: EINVAL, operation: "rename", path: newPath)
    }
    try unsafe SystemCall.run("rename", path: path) { old in
      unsafe newPath.withCString { new in unsafe Glibc.rename(old, new) }
    }
  }

  /// Removes a name that is no directory.
  package static func remove(_ path: String) throws(FileError) {
    try unsafe SystemCall.run("remove", path: path) { unsafe unlink($0) }
  }

  /// Bytes that a user without privileges could still write on the file system of `path`.
  package static func availableBytes(_ path: String) throws(FileError) -> UInt64 {
    var status = statvfs()
    try unsafe SystemCall.run("measure", path: path) { unsafe statvfs($0, &status) }
    return UInt64(status.f_bavail) * UInt64(status.f_frsize)
  }

  /// The kind of file system that holds `path`, or will: that of the nearest directory above it that
  /// is there.
  package static func fileSystem(of path: String) throws(FileError) -> FileSystemKind {
    try FileSystemProbe.system.kind(path)
  }

  /// `path` with every link in its directory part resolved; the last component need not exist and
  /// stays as it is.
  ///
  /// SQLite refuses a link in any component, and a home directory is often behind one.
  package static func resolvingDirectory(of path: String) throws(FileError) -> String {
    let parts = FilePath(path)
    let directory = try resolve(parts.parent.text)
    guard let name = parts.lastComponent else { return directory }
    return directory == "/" ? "/" + name : directory + "/" + name
  }

  /// The absolute path of what exists at `path`, without links, `.` and `..`.
  package static func resolve(_ path: String) throws(FileError) -> String {
    var resolved = ""
    try unsafe SystemCall.run("resolve", path: path) { name in
      guard let found = unsafe realpath(name, nil) else { return -1 }
      resolved = unsafe String(cString: found)
      // realpath allocated it for us.
      unsafe free(found)
      return 0
    }
    return resolved
  }
}

extension Files {
  /// Gives a finished file its name, unless something of that name is there.
  ///
  /// The name appears with the whole file behind it, or not at all.
  ///
  /// - Throws: ``FileError/Kind/exists``; the file then keeps the name it had.
  package static func publish(_ path: String, as newPath: String) throws(FileError) {
    try unsafe SystemCall.run("publish", path: newPath) { new in
      unsafe path.withCString { old in unsafe link(old, new) }
    }
    try remove(path)
    try syncDirectory(FilePath(newPath).parent.text)
  }
}
