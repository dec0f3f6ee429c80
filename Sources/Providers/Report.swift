/// One error in a reply's body; a reply may carry several.
struct Report: Equatable {
  /// Its place in a list of errors.
  var element: Int?
  var code: String?
  var subcode: String?
  var type: String?
  var description: String?

  /// The errors of `reply`: of each list that a code's path goes through one for each element.
  static func all(
    in reply: borrowing ReplyBody, _ shape: Provider.ErrorBodyShape
  ) -> [Report] {
    for path in shape.code {
      let codes = reply.texts(path).filter { !$0.text.isEmpty }
      guard !codes.isEmpty else { continue }
      var reports: [Report] = []
      for (element, text) in codes {
        let code = plain(text)
        guard !shape.successCodes.contains(code) else { continue }
        reports += all(in: reply, shape, code: code, element: element)
      }
      if !reports.isEmpty { return reports }
    }
    let bare = report(in: reply, shape, code: nil, element: nil)
    return bare.subcode == nil && bare.type == nil && bare.description == nil ? [] : [bare]
  }

  /// One report for the code, or one for each subcode where those stand in a list of their own.
  private static func all(
    in reply: borrowing ReplyBody, _ shape: Provider.ErrorBodyShape, code: String, element: Int?
  ) -> [Report] {
    let one = report(in: reply, shape, code: code, element: element)
    guard element == nil, one.subcode == nil else { return [one] }
    for path in shape.subcode {
      let subcodes = reply.texts(path)
      guard !subcodes.isEmpty else { continue }
      return subcodes.map { subcode in
        var report = one
        report.subcode = subcode.text
        return report
      }
    }
    return [one]
  }

  private static func report(
    in reply: borrowing ReplyBody, _ shape: Provider.ErrorBodyShape, code: String?, element: Int?
  ) -> Report {
    Report(
      element: element, code: code, subcode: reply.text(shape.subcode, element: element),
      type: reply.text(shape.type, element: element),
      description: reply.text(shape.description, element: element))
  }

  /// The last part of an address that serves as a code (RFC 9457's `type`).
  private static func plain(_ code: String) -> String {
    guard code.hasPrefix("https://"), let slash = code.lastIndex(of: "/") else { return code }
    return String(code[code.index(after: slash)...])
  }

  /// Whether a reply with a status of success is an error all the same.
  static func isError(
    _ reply: borrowing ReplyBody, _ shape: Provider.ErrorBodyShape, _ reports: [Report],
    at endpoint: Endpoint
  ) -> Bool {
    for path in shape.partial where reply.has(path) { return false }
    if let ok = shape.ok, reply.text([ok]) == "false" { return true }
    if isDead(reply, at: endpoint) { return true }
    if endpoint.isOAuth {
      let text = reply.text([MemberPath("error")!])
      if let text, !["", "false", "0"].contains(text) { return true }
      if text == nil, reply.has(MemberPath("error")!) { return true }
      if reply.text([MemberPath("ok")!]) == "false" { return true }
    }
    return reports.contains { $0.code != nil }
  }

  /// Whether a token that was looked up is dead: RFC 7662's `active`, Facebook's `data.is_valid`.
  static func isDead(_ reply: borrowing ReplyBody, at endpoint: Endpoint) -> Bool {
    guard endpoint == .introspect else { return false }
    return reply.text([MemberPath("active")!, MemberPath("data.is_valid")!]) == "false"
  }
}
