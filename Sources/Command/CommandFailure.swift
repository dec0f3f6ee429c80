/// Why a command did not do what it was asked, as the person reads it.
///
/// `message` begins with its subject, is lower case, has no full stop and holds no secret. `hint` is
/// a command that works when it is pasted. Texts from outside pass through ``EscapedText`` when they
/// are shown, so they may stand here as they are.
package struct CommandFailure: Error, Equatable, Sendable {
  package var status: ExitStatus
  package var message: String
  package var hint: String?
  /// What fits, where several things do; listed below the message.
  package var candidates: [String] = []

  package init(_ status: ExitStatus, _ message: String, hint: String? = nil) {
    self.status = status
    self.message = message
    self.hint = hint
  }

  /// The reader of our standard output went away. Nothing is said about it.
  static let readerGone = CommandFailure(.io, "")

  var isSilent: Bool { message.isEmpty }
}
