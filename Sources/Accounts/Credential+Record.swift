package import Encoding
import Time

extension Credential {
  static let version: UInt8 = 1

  /// The record: version (1), client id, kind (u8), token type, generation (i64), obtained (i64),
  /// lifetime (optional), expiry (u8: 1 unknown, 2 never, 3 at and i64), end of the refresh token,
  /// end of data access (optional each), scopes, asked scopes (optional lists), source (u8), has a
  /// refresh token (flag), mark (u8: 0 none, 1 rejected with reason and time, 2 uncertain, 3 stale
  /// with time), notes (list).
  package var bytes: [UInt8] {
    var writer = Writer()
    writer.u8(Credential.version)
    writer.field(clientID)
    writer.coded(kind)
    writer.field(tokenType)
    writer.i64(generation)
    writer.time(obtainedAt)
    writer.optional(lifetime)
    switch expiry {
    case .unknown: writer.u8(1)
    case .never: writer.u8(2)
    case .at(let time):
      writer.u8(3)
      writer.time(time)
    }
    writer.optional(refreshExpiresAt)
    writer.optional(dataAccessUntil)
    writer.optionalList(scopes)
    writer.optionalList(askedScopes)
    writer.coded(source)
    writer.flag(hasRefreshToken)
    switch mark {
    case .none: writer.u8(0)
    case .rejected(let reason, let time):
      writer.u8(1)
      writer.field(reason)
      writer.time(time)
    case .uncertain(let since):
      writer.u8(2)
      writer.time(since)
    case .stale(let since):
      writer.u8(3)
      writer.time(since)
    }
    writer.list(notes)
    return writer.bytes
  }

  /// Decodes a record; every form but the canonical one is refused, and so is an expiry before the
  /// credential was obtained.
  package init(_ bytes: [UInt8]) throws(EncodingError) {
    var reader = Reader(bytes)
    try reader.version(Credential.version)
    clientID = try reader.text()
    kind = try reader.coded(Kind.self)
    tokenType = try reader.text()
    generation = try reader.i64()
    obtainedAt = try reader.time()
    lifetime = try reader.optionalInt64()
    switch try reader.u8() {
    case 1: expiry = .unknown
    case 2: expiry = .never
    case 3: expiry = .at(try reader.time())
    default: throw .notCanonical("expiry")
    }
    guard expiry == expiry.notBefore(obtainedAt) else {
      throw .notCanonical("expiry before the credential was obtained")
    }
    refreshExpiresAt = try reader.optionalTime()
    dataAccessUntil = try reader.optionalTime()
    scopes = try reader.textList()
    askedScopes = try reader.textList()
    source = try reader.coded(Source.self)
    hasRefreshToken = try reader.flag()
    switch try reader.u8() {
    case 0: mark = .none
    case 1:
      let reason = try reader.text()
      mark = .rejected(reason: reason, at: try reader.time())
    case 2: mark = .uncertain(since: try reader.time())
    case 3: mark = .stale(since: try reader.time())
    default: throw .notCanonical("mark")
    }
    notes = try reader.list()
    try reader.end()
  }
}

extension Credential.Kind: ByteCoded {
  var code: UInt8 {
    switch self {
    case .oauth1: 1
    case .oauth2: 2
    }
  }
}

extension Credential.Source: ByteCoded {
  var code: UInt8 {
    switch self {
    case .response: 1
    case .tokenStdin: 2
    case .signIn: 3
    case .renewal: 4
    case .restore: 5
    }
  }
}
