import Foundation

/// Runs a program and throws unless it exits with 0.
public func run(_ program: String, _ arguments: String...) throws {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: program)
  process.arguments = arguments
  try process.run()
  process.waitUntilExit()
  guard process.terminationStatus == 0 else { throw CocoaError(.executableRuntimeMismatch) }
}
