import Encoding
package import HTTPTypes
import Ledger
package import Providers
import Sodium

extension Evidence {
  /// What the ledger keeps of a refusal: status, codes, class, and the SHA-256 of the body, by which a
  /// kept reply can be matched (`sha256sum`). A code that no row and no specification names is left out:
  /// a refusal may repeat the token.
  init(_ refusal: Classification, _ response: HTTPResponse?) {
    self.init(
      status: refusal.status ?? response?.status, code: refusal.isKnownCode ? refusal.code : nil,
      subcode: refusal.isKnownCode ? refusal.subcode : nil, class: refusal.errorClass.rawValue,
      bodyHash: response?.bodyHash)
  }

  /// What the ledger keeps of a reply that is no refusal.
  init(_ response: HTTPResponse) {
    self.init(status: response.status, bodyHash: response.bodyHash)
  }
}

extension Session {
  /// What the ledger keeps of a refusal; never its text.
  package func evidence(_ refusal: Classification, _ response: HTTPResponse?) -> Evidence {
    Evidence(refusal, response)
  }
}

extension HTTPResponse {
  /// Nil where the body was handed on piece by piece, or is empty.
  fileprivate var bodyHash: String? {
    guard body.count > 0 else { return nil }
    return Hex.encode(body.withBytes { SHA256.digest($0) }.bytes)
  }
}
