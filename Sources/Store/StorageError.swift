package import Faults
package import FileSystem
import Glibc
package import SQLite

/// SQLite's and the file system's answers in the words of the vault.
///
/// After a failed commit nothing is known; the store reads the counter again before it decides.
extension VaultError {
  package static func storage(_ error: SQLiteError, _ operation: String) -> VaultError {
    switch error.kind {
    case .busy:
      return VaultError(
        .tryAgain,
        "vault is busy: another process is writing (\(operation)); try again in a moment",
        hint: "vault doctor", reason: .busy)
    case .full:
      return .diskFull(operation)
    case .readOnly:
      return VaultError(
        .io, "vault cannot be written: the file or its directory is read-only (\(operation))",
        hint: "vault doctor", reason: .readOnly)
    case .notADatabase:
      return VaultError(
        .damaged, "not a vault, or damaged at its beginning (\(operation))",
        hint: restoreHint, reason: .damagedFile)
    case .corrupt, .schema, .constraint, .tooBig:
      return VaultError(
        .damaged, "vault file is damaged (\(operation), SQLite code \(error.extended))",
        hint: restoreHint, reason: .damagedFile)
    case .statement:
      // The vault's statements are fixed, so what does not fit is the file.
      return VaultError(
        .damaged, "vault file is damaged: its tables are not the vault's own (\(operation))",
        hint: restoreHint, reason: .damagedFile)
    case .io where [ENOSPC, EFBIG, EDQUOT].contains(error.systemErrno):
      return .diskFull(operation)
    case .io:
      return VaultError(
        .io, "the file system refused (\(operation), SQLite code \(error.extended))",
        hint: "vault doctor")
    case .cantOpen:
      return VaultError(
        .io, "the vault's files cannot be opened (\(operation), SQLite code \(error.extended))",
        hint: "vault doctor", reason: .readOnly)
    default:
      return VaultError(.failed, "\(operation): SQLite code \(error.extended)")
    }
  }

  static func diskFull(_ operation: String) -> VaultError {
    VaultError(
      .io, "disk is full: nothing was changed (\(operation)); free some space",
      hint: "vault doctor",
      reason: .diskFull)
  }

  package static func file(_ error: FileError, _ operation: String) -> VaultError {
    let text = "\(operation): \(error.path): \(error.text)"
    switch error.kind {
    // Where something is to be made, a directory that is missing is the file system's refusal.
    case .notFound: return VaultError(operation.hasPrefix("making ") ? .io : .notFound, text)
    case .exists: return VaultError(.exists, text)
    case .full: return .diskFull(operation)
    case .readOnly: return VaultError(.io, text, reason: .readOnly)
    case .symbolicLink:
      return VaultError(
        .io, "\(operation): \(error.path) is a symbolic link",
        hint: "readlink -f \(ShellText.quoted(error.path))",
        reason: .unsafePath)
    default: return VaultError(.io, text)
    }
  }
}
