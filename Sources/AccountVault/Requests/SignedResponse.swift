public import Accounts
public import Faults
public import Providers

/// What a provider answered to a signed request.
public struct SignedResponse: Sendable {
  /// The HTTP status.
  public let status: Int
  /// In their order; names as the server wrote them.
  public let headers: [(name: String, value: String)]
  /// The body, where no receiver was given; else empty.
  public let body: [UInt8]
  /// The account that the request was sent for.
  public let account: Account
  /// What the refusal means; nil for a success. A 200 with an error in it is a refusal too.
  public let errorClass: ErrorClass?
  /// The refusal as the command tells it; nil for a success.
  public let error: VaultError?
  /// What the caller should know besides, such as where a redirect led that was not followed.
  public let notes: [String]

  /// The first header of that name, in any case.
  public func header(_ name: String) -> String? {
    let name = name.lowercased()
    return headers.first { $0.name.lowercased() == name }?.value
  }

  /// The response itself, where it is a success.
  ///
  /// - Throws: ``error``.
  public func checked() throws(VaultError) -> SignedResponse {
    if let error { throw error }
    return self
  }
}
