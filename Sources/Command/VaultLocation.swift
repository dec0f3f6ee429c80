/// Where the vault file is looked for, CONTRACT section 1.
package enum VaultLocation {
  /// `--vault`, else `$VAULT_FILE`, else `accounts.vault` where XDG keeps a user's data.
  ///
  /// - Throws: `usage` where nothing says where.
  package static func path(
    _ arguments: ParsedArguments, _ environment: ProcessEnvironment
  ) throws(CommandFailure) -> String {
    if let path = arguments.text("vault") { return path }
    return try path(environment)
  }

  /// The same where no option names it.
  static func path(_ environment: ProcessEnvironment) throws(CommandFailure) -> String {
    if let path = try environment.value("VAULT_FILE") { return path }
    // The XDG specification has a relative path ignored.
    if let data = try environment.value("XDG_DATA_HOME"), data.hasPrefix("/") {
      return data + "/vault/accounts.vault"
    }
    guard let home = try environment.value("HOME") else {
      throw CommandFailure(
        .usage, "no vault was named, and $HOME is not set",
        hint: "export VAULT_FILE=PATH")
    }
    return home + "/.local/share/vault/accounts.vault"
  }
}
