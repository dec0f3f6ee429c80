/// The options that every command takes.
enum GlobalOptions {
  static let all: [OptionSpec] = [
    .option("vault", "PATH", "the vault file", kind: .file),
    .option("passphrase-fd", "N", "read the passphrase from file descriptor N"),
    .option("passphrase-file", "FILE", "read the passphrase from FILE", kind: .file),
    .option("key-file", "FILE", "unlock with the 32 bytes in FILE", kind: .file),
    .flag("allow-expensive-kdf", "unlock even where it needs more memory than is usual"),
    .flag("network-fs", "allow a network file system, for one process at a time"),
    .flag("json", "print data as JSON: an object, or one object a line for a list"),
    .flag("quiet", "print no notes and no hints"),
    .flag("verbose", "print what is being done"),
    .flag("help", "show help for the command").short("h"),
  ]
}
