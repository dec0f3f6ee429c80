import Faults
package import Sodium

/// How the person says yes to the provider.
public enum SignInWay: String, Sendable, CaseIterable {
  /// In a browser of this machine, which comes back by itself.
  case browser
  /// In any browser, with a code to type there (RFC 8628).
  case device
  /// In any browser, with a number to type here.
  case pin
}

/// What the person is told while a sign-in waits for them.
public struct SignInPrompt: Sendable {
  /// Which way it goes.
  public let way: SignInWay
  /// The provider, as people call it.
  public let providerName: String
  /// The client that will hold the token, by its name, else by its id.
  public let clientName: String
  /// Whose sign-in it is, as `type:username`; nil for an account that is not there yet.
  public let accountLabel: String?
  /// What will be asked for there, in the provider's own names; empty where the provider decides.
  public let scopes: [String]
  /// To be opened; with ``SignInWay/device`` where ``userCode`` is typed.
  public let address: String
  /// The same with the code in it, for a QR code.
  public let completeAddress: String?
  /// What the person types at ``address``.
  public let userCode: String?
  /// The port of this machine that the browser comes back to.
  public let port: Int?
  /// Seconds until nobody waits any more.
  public let seconds: Int64
  /// Whether the provider also takes a sign-in on another device.
  public let offersDevice: Bool
}

/// What a redirect to the listener was.
package enum RedirectVerdict: Sendable {
  /// The answer to this sign-in: the person said yes.
  case accepted
  /// The answer to this sign-in: it was refused, and the page should say so.
  case refused
  /// Anything else, which anybody on the machine can send: it is answered 400 and the wait goes on.
  case foreign
}

/// A listener that waits for the browser to come back.
package struct RedirectWait: Sendable {
  /// Where: the `redirect_uri`, byte for byte as it is sent to the provider.
  package let address: String
  /// The port that is listened on, for whoever must forward it.
  package let port: Int

  /// Waits for a request to ``address`` whose query is this sign-in's; others are answered 400. Nil
  /// where the task was cancelled before.
  package let answer:
    @Sendable (_ check: @escaping @Sendable (SharedSecret) -> RedirectVerdict) async
      -> SharedSecret?

  /// Ends the listening. The last answer still goes out.
  package let close: @Sendable () async -> Void

  package init(
    address: String, port: Int,
    answer:
      @escaping @Sendable (_ check: @escaping @Sendable (SharedSecret) -> RedirectVerdict) async
      -> SharedSecret?,
    close: @escaping @Sendable () async -> Void
  ) {
    self.address = address
    self.port = port
    self.answer = answer
    self.close = close
  }
}

/// Where a sign-in meets the person, by value: the command makes one of its terminal, its browser and
/// a listener; another program one of its own windows.
public struct SignInPlace: Sendable {
  /// Starts to listen for the browser. Takes the address that the client is registered with, whose
  /// path, and port where it has one, must be used; nil for any. Nil where nothing can listen.
  package var listen: (@Sendable (_ registered: String?) throws(VaultError) -> RedirectWait)?

  /// Shows what is asked for by whom, the address and the code, before anything is opened.
  package var show: @Sendable (SignInPrompt) -> Void

  /// Opens an address in the person's browser, if it can.
  package var open: @Sendable (_ address: String) async -> Void

  /// Reads the number that the provider's page showed; nil where the task was cancelled or the time,
  /// nanoseconds of `CLOCK_BOOTTIME`, came before. No closure where nobody can be asked.
  package var askPIN: (@Sendable (_ until: Int64) async -> SharedSecret?)?

  /// Whether a client may be registered at a server, which sees that somebody of this address did;
  /// no closure where nobody can be asked.
  package var mayRegister: (@Sendable (_ server: String) throws(VaultError) -> Bool)?

  /// Returns true when the person wants to end it, false where the task was cancelled before. No
  /// closure where nothing but the task's own end can.
  package var interruption: (@Sendable () async -> Bool)?

  package init(
    listen: (@Sendable (_ registered: String?) throws(VaultError) -> RedirectWait)?,
    show: @escaping @Sendable (SignInPrompt) -> Void,
    open: @escaping @Sendable (_ address: String) async -> Void,
    askPIN: (@Sendable (_ until: Int64) async -> SharedSecret?)? = nil,
    mayRegister: (@Sendable (_ server: String) throws(VaultError) -> Bool)? = nil,
    interruption: (@Sendable () async -> Bool)? = nil
  ) {
    self.listen = listen
    self.show = show
    self.open = open
    self.askPIN = askPIN
    self.mayRegister = mayRegister
    self.interruption = interruption
  }
}
