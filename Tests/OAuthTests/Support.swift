import Crypto
import Encoding
import Foundation
import Sodium
import TestSupport
import Testing
import Time

@testable import OAuth

extension SecretBytes {
  /// A secret out of what a test writes down, and therefore none.
  init(_ text: String) {
    self = Array(text.utf8).withBytes { SecretBytes(copying: $0) }
  }

  /// What a test compares.
  var string: String {
    withBytes { bytes in
      String(decoding: (0..<bytes.byteCount).map { bytes.byte($0) }, as: UTF8.self)
    }
  }
}

/// What a secret that may be absent holds.
func string(_ secret: borrowing SecretBytes?) -> String? {
  switch secret {
  case .some(let secret): secret.string
  case .none: nil
  }
}

/// The same where it must be there.
func required(_ secret: borrowing SecretBytes?) throws -> String {
  let text = string(secret)
  return try #require(text)
}

extension RequestSigner {
  private static func refused(_ error: CryptoError) -> OAuthError { .cannotSign("\(error)") }

  static let sha1: Sign = { (message) throws(OAuthError) in
    do throws(CryptoError) { return try SHA1.digest(message) } catch { throw refused(error) }
  }

  static let hmacSHA1 = mac("HMAC-SHA1", bodyHash: sha1) { (message, key) throws(OAuthError) in
    do throws(CryptoError) { return try HMACSHA1.authenticate(message, key: key) } catch {
      throw refused(error)
    }
  }

  static let hmacSHA512 = mac("HMAC-SHA512") { (message, key) throws(OAuthError) in
    do throws(CryptoError) { return try HMACSHA512.authenticate(message, key: key) } catch {
      throw refused(error)
    }
  }

  /// A class holds the key, so that the closure can be copied.
  private final class Key: Sendable {
    let key: RSA.SigningKey
    init(pem: String) throws { key = try RSA.SigningKey(pem: SecretBytes(pem)) }
  }

  static func rsa(_ name: String, pem: String) throws -> RequestSigner {
    let hash = try #require(
      ["RSA-SHA1": RSA.Hash.sha1, "RSA-SHA256": .sha256, "RSA-SHA512": .sha512][name])
    let key = try Key(pem: pem)
    return privateKey(name, bodyHash: sha1) { (message) throws(OAuthError) in
      do throws(CryptoError) { return try key.key.sign(message, hash) } catch {
        throw refused(error)
      }
    }
  }

  static func named(_ name: String) throws -> RequestSigner {
    try #require(
      ["HMAC-SHA1": hmacSHA1, "HMAC-SHA256": hmacSHA256, "HMAC-SHA512": hmacSHA512][name])
  }

  func signature(
    of baseString: String, _ clientSecret: String = "", _ tokenSecret: String = ""
  ) throws -> String {
    let tokenSecret = SecretBytes(tokenSecret)
    return try Array(baseString.utf8).withBytes { baseString throws(OAuthError) in
      try tokenSecret.withBytes { tokenSecret throws(OAuthError) in
        try signature(
          of: baseString, clientSecret: SecretBytes(clientSecret), tokenSecret: tokenSecret)
      }
    }.string
  }
}

func parameters(_ pairs: [(String, String)]) -> ParameterList {
  var list = ParameterList()
  for (name, value) in pairs { list.append(name, value) }
  return list
}

func normalized(_ pairs: [(String, String)]) -> String { parameters(pairs).normalized().string }

extension OAuth1Request.Moment {
  init(_ nonce: String, _ seconds: Int64) {
    self.init(nonce: nonce, time: Timestamp(seconds: seconds))
  }
}

func credentials(
  _ clientID: String, _ clientSecret: String, _ token: String? = nil, _ tokenSecret: String? = nil
) -> SigningCredentials {
  switch (token, tokenSecret) {
  case (let token?, let tokenSecret?):
    SigningCredentials(
      clientID: clientID, clientSecret: SecretBytes(clientSecret), token: SecretBytes(token),
      tokenSecret: SecretBytes(tokenSecret))
  default: SigningCredentials(clientID: clientID, clientSecret: SecretBytes(clientSecret))
  }
}

/// A request signed, as the text of its header.
func header(
  _ method: String, _ url: String, form: String? = nil,
  by credentials: borrowing SigningCredentials, _ moment: OAuth1Request.Moment?,
  _ signer: RequestSigner = .hmacSHA1, version: Bool = true, body: String? = nil,
  _ change: (inout OAuth1Request.Options) -> Void = { _ in }
) throws -> String {
  var options = OAuth1Request.Options()
  options.sendsVersion = version
  change(&options)
  let address = try RequestURL(url)
  let request =
    if let form {
      try OAuth1Request(method, address, form: SecretBytes(form))
    } else {
      try OAuth1Request(method, address)
    }
  if let body {
    return try Array(body.utf8).withBytes { body throws(OAuthError) in
      try request.authorization(by: credentials, signer, moment, options, body: body)
    }.string
  }
  return try request.authorization(by: credentials, signer, moment, options).string
}

/// The value of `oauth_signature` in a header, decoded.
func signature(_ header: String) throws -> String {
  let value = try #require(
    try AuthorizationHeader.parse(header).first { $0.name == "oauth_signature" }?.value)
  return try #require(value.removingPercentEncoding)
}
