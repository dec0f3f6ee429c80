import AccountVault
import Command
import Encoding
import Sodium
import Time

extension SignedRequest {
  /// The request that the options and arguments of `vault request` describe.
  ///
  /// - Throws: `usage` for what is no pair of name and value; `notFound` and `io` for a body that cannot
  ///   be read.
  init(_ context: Context) throws(CommandFailure) {
    let arguments = context.arguments
    guard let method = Method(rawValue: context.argument(0)) else {
      throw context.usage("METHOD is none of those known")
    }
    self.init(method, context.argument(1))
    for text in arguments.texts("data") {
      let (name, value) = try Self.pair(text, "=", "--data takes NAME=VALUE", context)
      parameters.append(Parameter(name, value))
    }
    for text in arguments.texts("form") {
      let (name, value) = try Self.pair(
        text, "=", "--form takes NAME=VALUE or NAME=@FILE", context)
      guard value.hasPrefix("@") else {
        parts.append(Part(name, value))
        continue
      }
      let path = String(value.dropFirst())
      if path.isEmpty { throw context.usage("--form: the name of the file is empty") }
      parts.append(Part(name, .file(path: path)))
    }
    for text in arguments.texts("header") {
      headers.append(try Self.pair(text, ":", "--header takes 'NAME: VALUE'", context))
    }
    if let file = arguments.text("json-body") { body = try Self.body(file, context) }
    if let text = arguments.text("max-wait") {
      guard let seconds = DurationText.parse(text), seconds <= 86_400 else {
        throw context.usage("--max-wait takes a duration such as 30s or 15m, of a day at most")
      }
      limits.waitSeconds = seconds
    }
  }

  /// Values are not repeated in errors: a slip may have put a secret there.
  private static func pair(
    _ text: String, _ sign: Character, _ what: String, _ context: Context
  ) throws(CommandFailure) -> (name: String, value: String) {
    guard let place = text.firstIndex(of: sign), place > text.startIndex else {
      throw context.usage(what)
    }
    return (String(text[..<place]), String(text[text.index(after: place)...]))
  }

  /// The most that a body of JSON may have, in bytes: it is held in memory.
  private static let bodyLimit = 16 << 20

  private static func body(_ file: String, _ context: Context) throws(CommandFailure) -> Body {
    let source =
      file == "-"
      ? try InputSource.descriptor(context.invocation.standardInput, name: "standard input")
      : try InputSource.file(file)
    let bytes = try source.read(limit: bodyLimit)
    return Body(
      bytes.withBytes { span in (0..<span.byteCount).map { span.byte($0) } },
      contentType: "application/json")
  }
}
