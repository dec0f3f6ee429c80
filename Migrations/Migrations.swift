/// The schema as numbered SQL, embedded in the binary.
///
/// Released SQL never changes: `CHECKSUMS` holds its SHA-256, and `Scripts/check` compares.
package enum Migrations {
  /// The statements that take a file from format `n` to format `n + 1`, at index `n`.
  ///
  /// Each runs in one transaction; the file's format number is raised in the same transaction.
  package static var steps: [[UInt8]] { [PackageResources.m0001_vault_sql] }

  /// The format that this release writes.
  package static var currentFormat: Int { steps.count }
}
