internal import CCurl
internal import HTTPTypes

/// What libcurl knows of a transfer that failed.
struct TransferFacts: Sendable {
  /// OpenSSL's verdict on the certificate; 0 where it was right or none came.
  let certificate: Int
  /// The proxy's status.
  let proxyStatus: Int
  let proxyCertificate: Int

  init(_ handle: UnsafeMutableRawPointer) {
    func number(_ info: CURLINFO) -> Int {
      var value = 0
      unsafe vault_curl_get_number(handle, info, &value)
      return value
    }
    certificate = number(CURLINFO_SSL_VERIFYRESULT)
    proxyStatus = number(CURLINFO_HTTP_CONNECTCODE)
    proxyCertificate = number(CURLINFO_PROXY_SSL_VERIFYRESULT)
  }
}

extension Transfer {
  /// What a code of libcurl means to a person. libcurl's own texts are not used: they may quote the
  /// address or a header.
  func failure(_ code: CURLcode, _ facts: TransferFacts, sent: Bool) -> HTTPFailure {
    let host = target.host
    func failure(_ kind: HTTPFailure.Kind, _ text: String) -> HTTPFailure {
      HTTPFailure(kind, "\(host): \(text)", mayHaveBeenSent: sent)
    }
    if let verdict { return failure(verdict.kind, verdict.text) }
    if let file = failedFile {
      return HTTPFailure(
        .file, "\(file): cannot be read to its end", mayHaveBeenSent: sent)
    }
    switch code {
    case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL:
      return sent
        ? failure(.broken, "the reply is no HTTP") : failure(.badRequest, "the address is refused")
    case CURLE_COULDNT_RESOLVE_HOST: return failure(.resolve, "no address is known for this host")
    case CURLE_COULDNT_RESOLVE_PROXY:
      return failure(.resolve, "no address is known for the proxy on the way")
    case CURLE_PROXY: return failure(.connect, "the proxy on the way does not do its part")
    case CURLE_COULDNT_CONNECT: return failure(.connect, "no connection: nobody answers there")
    case CURLE_OPERATION_TIMEDOUT: return overdue(sent)
    case CURLE_PEER_FAILED_VERIFICATION:
      return failure(.tls, Self.certificateText(facts))
    case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CRL_BADFILE:
      return failure(.tls, "the certificates of authorities on this machine cannot be read")
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_USE_SSL_FAILED, CURLE_SSL_ISSUER_ERROR,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_ENGINE_INITFAILED:
      return failure(
        .tls, "no secure connection: the server may speak no TLS, or none from 1.2 on")
    case CURLE_BAD_CONTENT_ENCODING: return failure(.broken, "the reply cannot be decompressed")
    case CURLE_PARTIAL_FILE: return failure(.broken, "the reply broke off")
    case CURLE_WEIRD_SERVER_REPLY: return failure(.broken, "the reply is no HTTP")
    case CURLE_OUT_OF_MEMORY: return failure(.broken, "out of memory")
    case CURLE_ABORTED_BY_CALLBACK where sent:
      return failure(.broken, "the connection broke before the reply; the request was not repeated")
    default: break
    }
    if sent { return failure(.broken, "the connection broke before the reply was whole") }
    if facts.proxyStatus != 0, facts.proxyStatus / 100 != 2 {
      return failure(.connect, "the proxy on the way refused, with status \(facts.proxyStatus)")
    }
    return failure(.connect, "the connection broke while it was made")
  }

  /// The text for a time that is up.
  func overdue(_ sent: Bool) -> HTTPFailure {
    HTTPFailure(
      .timeout,
      "\(target.host): "
        + (sent ? "no whole reply in time" : "no connection in time"), mayHaveBeenSent: sent)
  }

  /// By the numbers of OpenSSL's `X509_V_ERR_…`, which are part of its interface.
  private static func certificateText(_ facts: TransferFacts) -> String {
    if facts.certificate == 0, facts.proxyCertificate != 0 {
      return "the proxy's " + text(ofCertificate: facts.proxyCertificate)
    }
    return "the server's " + text(ofCertificate: facts.certificate)
  }

  private static func text(ofCertificate verdict: Int) -> String {
    switch verdict {
    // 1 is where libcurl itself compared the names.
    case 0, 1, 62, 64: "certificate is for another host"
    case 9: "certificate is not valid yet"
    case 10: "certificate has expired"
    case 18: "certificate is signed by itself, not by an authority"
    case 2, 19, 20, 21: "certificate is from an authority that this machine does not know"
    case 23: "certificate was revoked"
    case 66, 67, 68: "certificate is made with a key or hash that is too weak"
    default: "certificate is refused (OpenSSL \(verdict))"
    }
  }
}
