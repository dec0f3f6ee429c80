internal import Glibc

/// What the environment says about the network, by the names that curl and OpenSSL read.
package struct HTTPEnvironment: Sendable {
  /// The proxy for HTTPS; nil for none. It may hold a password, so it is never shown.
  package let proxy: String?
  /// Hosts that are reached without it, as curl reads them: names with what lies below them, addresses,
  /// networks, `*`.
  package let noProxy: String?
  /// A file of certificates of authorities.
  package let authorityFile: String?
  /// A directory of them, named by their hashes.
  package let authorityDirectory: String?

  /// - Parameter value: The value of a variable, nil where it is not set. Empty counts as not set.
  ///
  /// `http_proxy` is not read: plain HTTP goes to this machine alone, and never through a proxy.
  package init(_ value: (String) -> String?) {
    func first(_ names: String...) -> String? {
      for name in names {
        if let value = value(name), !value.isEmpty { return value }
      }
      return nil
    }
    proxy = first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
    noProxy = first("no_proxy", "NO_PROXY")
    authorityFile = first("CURL_CA_BUNDLE", "SSL_CERT_FILE")
    authorityDirectory = first("SSL_CERT_DIR")
  }

  /// As the process has it now.
  package static var process: HTTPEnvironment {
    HTTPEnvironment { name in
      // The C library owns the text; it is copied at once.
      guard let value = unsafe getenv(name) else { return nil }
      return unsafe String(validatingCString: value)
    }
  }
}
