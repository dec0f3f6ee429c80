import FileSystem
import Foundation
import TestSupport
import Testing

@Suite struct `A directory` {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  func refusal(_ path: String) -> FileError? {
    #expect(throws: FileError.self) { try Files.checkDirectory(path) }
  }

  @Test func `is made with those above it, private, and existing ones are left`() throws {
    chmod(directory.path, 0o755)
    try Files.makeDirectories(directory("a/b/c/"))
    for name in ["a", "a/b", "a/b/c"] {
      let facts = try #require(try Files.inspect(directory(name)))
      #expect(facts.kind == .directory)
      #expect(facts.mode == 0o700)
    }
    #expect(try Files.inspect(directory.path)?.mode == 0o755)
    try Files.makeDirectories(directory("a/b"))
  }

  @Test func `is not made where a file stands`() throws {
    _ = try Files.createNew(directory("file"))
    #expect(throws: FileError.self) { try Files.makeDirectories(directory("file")) }
    #expect(throws: FileError.self) { try Files.makeDirectories(directory("file/below")) }
  }

  @Test func `of ours below the sticky temporary directory passes`() throws {
    try Files.checkDirectory(directory.path)
    try Files.makeDirectories(directory("a/b"))
    try Files.checkDirectory(directory("a/b"))
    try Files.checkDirectory(directory("a/b") + "//")
  }

  @Test(arguments: [mode_t(0o770), 0o702, 0o1777])
  func `that others may write in is refused`(_ mode: mode_t) throws {
    chmod(directory.path, mode)
    let error = refusal(directory.path)
    #expect(error?.kind == .permission)
    #expect(error?.operation == "check directory: others may write in it")
    #expect(error?.path == directory.path)
  }

  @Test func `below one that others may write in is refused, by its name`() throws {
    try Files.makeDirectories(directory("a/b"))
    chmod(directory("a"), 0o777)
    #expect(refusal(directory("a/b"))?.path == directory("a"))
  }

  @Test func `that is a link is refused, and one behind a link of ours is not`() throws {
    try Files.makeDirectories(directory("real/deep"))
    symlink("real", directory("link"))
    #expect(refusal(directory("link"))?.kind == .symbolicLink)
    #expect(refusal(directory("link/"))?.kind == .symbolicLink)
    try Files.checkDirectory(directory("link/deep"))
    // The link leads below a directory that others may write in.
    chmod(directory("real"), 0o777)
    #expect(refusal(directory("link/deep"))?.operation.contains("others may write") == true)
  }

  @Test func `that is not there, or is a file, is refused`() throws {
    #expect(refusal(directory("absent"))?.kind == .notFound)
    _ = try Files.createNew(directory("file"))
    #expect(refusal(directory("file")) != nil)
  }

  @Test(.enabled(if: geteuid() == 0, "giving a directory away needs root"))
  func `of another user is refused, also as a parent`() throws {
    try Files.makeDirectories(directory("a/b"))
    chown(directory("a"), 65_534, 65_534)
    #expect(refusal(directory("a"))?.operation == "check directory: another user owns it")
    #expect(refusal(directory("a/b"))?.path == directory("a"))
  }

  @Test func `has its links resolved, but not its last component`() throws {
    try Files.makeDirectories(directory("real"))
    symlink("real", directory("link"))
    symlink("elsewhere", directory("real/vault"))
    #expect(try Files.resolvingDirectory(of: directory("link/vault")) == directory("real/vault"))
    #expect(try Files.resolvingDirectory(of: directory("link/../new")) == directory("new"))
    let here = FileManager.default.currentDirectoryPath
    #expect(try Files.resolvingDirectory(of: "x").hasSuffix("/x"))
    #expect(try Files.resolvingDirectory(of: "x").count == here.count + 2)
    #expect(throws: FileError.self) { try Files.resolvingDirectory(of: directory("no/x")) }
  }

  @Test(arguments: [
    (UInt32(0x6969), FileSystemKind.network("NFS")), (0xFF53_4D42, .network("CIFS")),
    (0x517B, .network("SMB")), (0xFE53_4D42, .network("SMB2")), (0x0102_1997, .network("9p")),
    (0x6573_5546, .network("FUSE")), (0x5346_414F, .network("AFS")),
    (0x00C3_6400, .network("Ceph")), (0xEF53, .local), (0x0102_1994, .local),
    (0x9123_683E, .local), (0x5846_5342, .local), (0x794C_7630, .local), (0x2FC1_2FC1, .local),
  ])
  func `is on a network file system or is not`(_ magic: UInt32, _ kind: FileSystemKind) {
    #expect(FileSystemKind(magic: magic) == kind)
  }

  @Test func `that is yet to be made is judged by the one above it`() throws {
    #expect(try Files.fileSystem(of: "/proc/self") == .local)
    let asked = try Files.fileSystem(of: directory("not/yet/made"))
    #expect(try asked == Files.fileSystem(of: directory.path))
    #expect(try FileSystemProbe.always(.network("NFS")).kind("/") == .network("NFS"))
  }
}
