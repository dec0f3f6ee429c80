import Providers
import Sodium
import Time

/// 30 November 2026, 06:10:00 UTC.
let now = Timestamp(rfc3339: "2026-11-30T06:10:00Z")!

private let builtIns = Dictionary(
  uniqueKeysWithValues: Provider.builtInIdentifiers.map { ($0, Provider.builtIn($0)!) })

func builtIn(_ id: String) -> Provider { builtIns[id]! }

/// What one reply means to `provider`.
func meaning(
  _ provider: Provider, _ status: Int?, _ body: String = "",
  headers: [(name: String, value: String)] = [], from endpoint: Endpoint = .api,
  canRenew: Bool = true
) -> Classification? {
  let bytes = Array(body.utf8)
  return ErrorCatalogue(provider).classify(
    status: status, headers: headers, body: bytes.span.bytes, from: endpoint, now: now,
    canRenew: canRenew)
}

/// A token response with its secrets as text, to compare with.
struct ReadResponse: Equatable {
  var accessToken: String
  var refreshToken: String?
  var tokenSecret: String?
  var tokenType: String?
  var expiry: TokenExpiry
  var refreshExpiry: TokenExpiry
  var dataAccessEnd: Timestamp?
  var scopes: [String]?
  var userID: String?
  var username: String?
  var notes: [TokenNote]
}

func read(
  _ body: String, _ provider: Provider, from endpoint: Endpoint = .token
) throws(ResponseError) -> ReadResponse {
  let bytes = Array(body.utf8)
  let response = try TokenResponse.parse(bytes.span.bytes, for: provider, at: now, from: endpoint)
  var refresh: String?
  if response.refreshToken != nil { refresh = text(response.refreshToken!) }
  var secret: String?
  if response.tokenSecret != nil { secret = text(response.tokenSecret!) }
  return ReadResponse(
    accessToken: text(response.accessToken), refreshToken: refresh, tokenSecret: secret,
    tokenType: response.tokenType, expiry: response.expiry, refreshExpiry: response.refreshExpiry,
    dataAccessEnd: response.dataAccessEnd, scopes: response.scopes, userID: response.userID,
    username: response.username, notes: response.notes)
}

func failure(
  _ body: String, _ provider: Provider, from endpoint: Endpoint = .token
) -> ResponseError? {
  do {
    _ = try read(body, provider, from: endpoint)
    return nil
  } catch {
    return error
  }
}

private func text(_ secret: borrowing SecretBytes) -> String {
  secret.withBytes { bytes in
    var copy: [UInt8] = []
    for offset in 0..<bytes.byteCount {
      copy.append(unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
    }
    return String(decoding: copy, as: UTF8.self)
  }
}

func after(_ seconds: Int64) -> TokenExpiry { .at(Timestamp(seconds: now.seconds + seconds)) }

/// A definition of one's own, as a company's server or a later release has it.
func custom(_ members: String, protocol kind: String = "oauth2") throws -> Provider {
  try Provider.parse(
    """
    {"id": "example", "name": "Example", "protocol": "\(kind)",
     "endpoints": {"authorize": "https://auth.example/a", "token": "https://auth.example/t"}
     \(members.isEmpty ? "" : ", " + members)}
    """)
}

func later(_ seconds: Int64) -> Timestamp { Timestamp(seconds: now.seconds + seconds) }
