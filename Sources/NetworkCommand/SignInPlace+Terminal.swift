import AccountVault
import AccountVaultNetwork
import Command
import Faults
import QRCode
import Sodium
import Time

extension SignInPlace {
  /// Where a command meets the person: its terminal, a listener of this machine, the browser.
  ///
  /// All of it is shown on standard error. Nothing waits for input where there is no terminal.
  static func terminal(_ context: Context, _ network: Network) -> SignInPlace {
    let invocation = context.invocation
    let screen = SignInScreen(context)
    return SignInPlace(
      listen: { (registered) throws(VaultError) in
        try .loopback(registered: registered, over: network)
      },
      show: { prompt in screen.show(prompt) },
      open: { address in
        _ = Browser.open(address, environment: invocation.environment.entries)
      },
      askPIN: (try? Question(invocation)) == nil ? nil : pin(invocation, network),
      mayRegister: (try? Question(invocation)) == nil ? nil : registration(invocation),
      interruption: {
        while !Interrupts.hasCome {
          guard await network.wait(network.clock.sinceBoot() + 100_000_000) else { return false }
        }
        return true
      })
  }

  /// Reads the provider's number. The question ends with the sign-in's time, and a signal ends the
  /// process as it does at every question.
  private static func pin(
    _ invocation: Invocation, _ network: Network
  ) -> @Sendable (_ until: Int64) async -> SharedSecret? {
    { until in
      Interrupts.release()
      var asking = invocation
      asking.questionTimeout = max(1, (until - network.clock.sinceBoot()) / 1_000_000)
      do throws(CommandFailure) {
        let line = try Question(asking).line("The number that the page shows: ")
        return line.count == 0 ? nil : SharedSecret(line)
      } catch {
        return nil
      }
    }
  }

  private static func registration(
    _ invocation: Invocation
  ) -> @Sendable (_ server: String) throws(VaultError) -> Bool {
    { (server) throws(VaultError) in
      do throws(CommandFailure) {
        return try Question(invocation).yes(
          "There is no client of \(EscapedText.of(server)). Register one there?")
      } catch {
        return false
      }
    }
  }
}

/// What a person reads while a sign-in waits.
private struct SignInScreen: Sendable {
  private let write: @Sendable (String) -> Void
  private let screen: (columns: Int, isColored: Bool)?
  private let isRemote: Bool

  init(_ context: Context) {
    let terminal = context.terminal
    write = terminal.errorWriter
    screen = terminal.screen
    let variable = { (name: String) in (try? context.invocation.environment.value(name)) ?? nil }
    isRemote =
      variable("SSH_CONNECTION") != nil && variable("DISPLAY") == nil
      && variable("WAYLAND_DISPLAY") == nil && variable("BROWSER") == nil
  }

  func show(_ prompt: SignInPrompt) {
    var text = "Sign in"
    if let label = prompt.accountLabel { text += " \(EscapedText.of(label))" }
    text += " at \(EscapedText.of(prompt.providerName))"
    text += " for client \(EscapedText.of(prompt.clientName)).\n"
    if !prompt.scopes.isEmpty {
      text += "It asks for: \(EscapedText.of(prompt.scopes.joined(separator: ", "), limit: 4000))\n"
    }
    text += "Open this address"
    text += prompt.way == .device ? " on any device and type the code:\n\n" : ":\n\n"
    text += "  \(EscapedText.of(prompt.address, limit: 8192))\n"
    if let code = prompt.userCode { text += "\n  Code: \(EscapedText.of(code))\n" }
    text += "\n"
    if let picture = picture(prompt) { text += picture + "\n" }
    if isRemote, prompt.way == .browser, let port = prompt.port {
      text += "This is a remote session: the browser comes back to port \(port) of this machine.\n"
      text += "Where the browser runs, first: ssh -L \(port):127.0.0.1:\(port) THIS_MACHINE\n"
      if prompt.offersDevice { text += "Or sign in with --device, which needs no port.\n" }
    }
    if prompt.way == .device {
      text += "Type the code only if you began this sign-in yourself.\n"
    }
    text += "Waiting for at most \(prompt.seconds) seconds.\n"
    write(text)
  }

  /// A QR code, for a phone: of an address that works on any device.
  private func picture(_ prompt: SignInPrompt) -> String? {
    guard prompt.way != .browser, let screen else { return nil }
    guard let code = QRCode(prompt.completeAddress ?? prompt.address) else { return nil }
    return code.lines(columns: screen.columns, ink: screen.isColored ? .colored : .plain)
  }
}
