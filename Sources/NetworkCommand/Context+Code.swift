internal import Command
internal import QRCode

extension Context {
  /// Draws a QR code of `text` on standard error, for a telephone to read. Nothing is drawn where that
  /// is no terminal or has no room for it, so the text must be told as well.
  package func showCode(_ text: String) {
    guard let screen = terminal.screen, let code = QRCode(text),
      let lines = code.lines(columns: screen.columns, ink: screen.isColored ? .colored : .plain)
    else { return }
    terminal.aside(lines)
  }
}
