enum VersionCommand {
  static func run(_ context: inout Context) throws(CommandFailure) -> ExitStatus {
    var object = JSONObject()
    object.add("version", Release.version)
    object.add("json_format", Release.jsonFormat)
    object.add("vault_format", Release.vaultFormat)
    if context.terminal.printsJSON {
      try context.terminal.line(object.line)
    } else {
      try context.terminal.line("vault \(Release.version)")
    }
    return .ok
  }
}
