import Faults
import HTTPTypes
import OAuth
import Providers
import Sodium

extension Network {
  /// Sends a request that carries the account's credential to one of the provider's addresses.
  ///
  /// - Throws: ``VaultError`` with code `config` where the request cannot be made; nothing was sent.
  func ask(
    _ method: String, _ address: String, by access: Access, of provider: Provider,
    at endpoint: Endpoint = .api
  ) async throws(VaultError) -> EndpointReply {
    do throws(OAuthError) {
      let url = try RequestURL(address)
      return try await send(
        to: url.origin, at: endpoint, of: provider, canRenew: true, hasProof: access.proof != nil
      ) { (time) throws(OAuthError) in
        var request = try authorize(
          ResourceRequest(method, url), by: access, of: provider, time: time)
        request.limits.body = 262_144
        request.limits.total = 30_000
        return request
      }
    } catch {
      throw VaultError(unmade: error, provider: provider)
    }
  }
}

extension Provider {
  /// One of the provider's addresses for a client: `/{client_id}/` in its path is the client's id.
  func address(_ name: EndpointName, of clientID: String) -> String? {
    guard let address = endpoint(name) else { return nil }
    guard address.contains("/{client_id}/") else { return address }
    var segment = ""
    for byte in clientID.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
        segment.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        segment += "%" + (digits.utf8.count < 2 ? "0" : "") + digits
      }
    }
    return address.replacing("/{client_id}/", with: "/\(segment)/")
  }
}

extension SharedSecret {
  /// The JSON object `{"access_token": …}` with the secret as its value.
  ///
  /// A token is printable ASCII, of which JSON escapes the quotation mark and the backslash.
  var asTokenObject: SharedSecret {
    let opening = Array(#"{"access_token":""#.utf8)
    let escapes = withBytes { bytes in
      (0..<bytes.byteCount).count { [0x22, 0x5C].contains(bytes.unsigned($0)) }
    }
    var object = SecretBytes(count: opening.count + count + escapes + 2)
    object.withMutableBytes { target in
      var place = 0
      func put(_ byte: UInt8, _ target: inout MutableRawSpan) {
        target.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
        place += 1
      }
      for byte in opening { put(byte, &target) }
      withBytes { bytes in
        for offset in 0..<bytes.byteCount {
          let byte = bytes.unsigned(offset)
          if byte == 0x22 || byte == 0x5C { put(0x5C, &target) }
          put(byte, &target)
        }
      }
      put(0x22, &target)
      put(0x7D, &target)
    }
    return SharedSecret(object)
  }
}

extension RawSpan {
  /// The byte at an offset.
  fileprivate func unsigned(_ offset: Int) -> UInt8 {
    precondition(offset >= 0 && offset < byteCount)
    // A byte has no invalid form, and the offset is inside.
    return unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }
}
