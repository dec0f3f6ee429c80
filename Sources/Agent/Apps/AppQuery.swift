internal import Faults
internal import OAuth
internal import Providers

/// The fields of a request's query, held against those that it may have.
struct AppQuery: Sendable {
  private var fields: [String: String] = [:]

  /// - Parameter query: What stands behind `?`, nil for nothing.
  /// - Throws: ``VaultError``: `usage`, which names the field that is wrong.
  init(_ query: String?, names: [String]) throws(VaultError) {
    guard let query, !query.isEmpty else { return }
    do throws(OAuthError) {
      let reply = try FormReply(query)
      for name in reply.names {
        guard names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
          throw .badParameter(name)
        }
        fields[name] = try reply.text(name)
      }
    } catch {
      switch error {
      case .badParameter(let name):
        throw .wrongBody("there is no parameter \"\(ProviderText.safe(name, limit: 60))\"")
      case .repeatedParameter(let name):
        throw .wrongBody("the parameter \(ProviderText.safe(name, limit: 60)) is there twice")
      default: throw .wrongBody("the query cannot be read")
      }
    }
  }

  /// A text of so many characters; nil where it is not there.
  func text(_ name: String, in range: ClosedRange<Int>) throws(VaultError) -> String? {
    guard let text = fields[name] else { return nil }
    guard range.contains(text.unicodeScalars.count) else {
      throw .wrongBody("\(name) has \(range.lowerBound) to \(range.upperBound) characters")
    }
    return text
  }

  /// Words between commas, each once.
  func list(_ name: String) throws(VaultError) -> [String] {
    guard let text = try text(name, in: 1...4096) else { return [] }
    var words: [String] = []
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard !word.isEmpty else { throw .wrongBody("\(name) has an empty name between its commas") }
      if !words.contains(where: { $0.utf8.elementsEqual(word.utf8) }) { words.append(String(word)) }
    }
    return words
  }
}
