internal import CSystem
import Glibc

extension Files {
  /// Makes a directory with mode 0700, whatever the umask, or takes the one that is there if it is
  /// just so: no link, ours, and closed to everybody else.
  ///
  /// One that is otherwise is refused and left as it is: whoever made it may have put something in.
  ///
  /// - Throws: ``FileError`` whose operation says what is wrong.
  package static func makePrivateDirectory(_ path: String) throws(FileError) {
    var isNew = true
    do {
      try unsafe SystemCall.run("make directory", path: path) { unsafe mkdir($0, 0o700) }
    } catch  where error.kind == .exists {
      isNew = false
    }
    let number = try unsafe SystemCall.run("open directory", path: path) { name in
      unsafe vault_open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
    }
    let directory = Descriptor(adopting: number, path: path)
    if isNew { try directory.setMode(0o700) }
    let facts = try directory.facts()
    guard facts.owner == geteuid() else {
      throw FileError(
        errno: EPERM, operation: "use directory: another user owns it", path: path)
    }
    guard facts.mode & 0o077 == 0 else {
      throw FileError(
        errno: EPERM, operation: "use directory: it is open to others", path: path)
    }
  }

  /// Puts a symbolic link to `target` at `path`, in the place of what had that name, in one step.
  package static func putLink(to target: String, at path: String) throws(FileError) {
    let draft = "\(path).new-\(getpid())"
    do { try remove(draft) } catch  where error.kind == .notFound {}
    try unsafe SystemCall.run("make link", path: draft) { name in
      unsafe target.withCString { unsafe symlink($0, name) }
    }
    do throws(FileError) {
      try rename(draft, to: path)
    } catch {
      try? remove(draft)
      throw error
    }
  }

  /// Where the symbolic link at `path` points; nil where there is none.
  package static func linkTarget(_ path: String) -> String? {
    var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe target.withUnsafeMutableBytes { buffer -> Int in
      guard let start = buffer.baseAddress else { return -1 }
      // The kernel writes at most so many bytes into our array.
      return unsafe readlink(path, start.assumingMemoryBound(to: CChar.self), buffer.count)
    }
    guard count > 0, count < target.count else { return nil }
    return String(validating: target[..<count], as: UTF8.self)
  }
}
