import Foundation

/// One session with the command, as it must go: what is typed, what is shown, how it ends.
///
/// The text of a transcript:
///
///     # What the session shows, in a sentence or two; before the first command only.
///     $ vault grant --app 123 --perms nothing
///     vault: error: …
///     ? 64
///     $ cat <<END
///     > a command goes on in lines that begin with this
///     > END
///     a command goes on in lines that begin with this
///
/// Below a command stands all that it writes, standard output and standard error as they come. `? N`
/// is the status it ends with; without that line it is 0. Output whose last line is not ended is
/// followed by the line `\ no newline`. What differs from run to run stands as a name, see ``Masks``.
struct Transcript: Equatable {
  struct Step: Equatable {
    /// The command, its lines separated by newlines.
    var command: String
    /// What it wrote, with the newline at its end.
    var output: String
    var status: Int32
  }

  struct Malformed: Error, CustomStringConvertible {
    var line: Int
    var description: String
  }

  var comments: [String] = []
  var steps: [Step] = []

  private static let unended = #"\ no newline"#

  init(steps: [Step]) { self.steps = steps }

  init(_ text: String) throws(Malformed) {
    // Whether the last command's lines may still go on, and whether its status was told.
    var isCommand = false
    var isComplete = true
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard lines.popLast() == "" else {
      throw Malformed(line: lines.count + 1, description: "the last line is not ended")
    }
    for (number, line) in zip(1..., lines) {
      if line.hasPrefix("$ ") {
        steps.append(Step(command: String(line.dropFirst(2)), output: "", status: 0))
        isCommand = true
        isComplete = false
      } else if steps.isEmpty {
        guard line.isEmpty || line.hasPrefix("#") else {
          throw Malformed(line: number, description: "neither a comment nor a command")
        }
        comments.append(line)
      } else if isComplete {
        throw Malformed(line: number, description: "output below the status of its command")
      } else if isCommand, line.hasPrefix("> ") {
        steps[steps.count - 1].command += "\n" + line.dropFirst(2)
      } else if line.hasPrefix("? ") {
        guard let status = Int32(line.dropFirst(2)), status != 0 else {
          throw Malformed(line: number, description: "not a status other than 0")
        }
        steps[steps.count - 1].status = status
        isComplete = true
      } else if line == Self.unended {
        guard steps[steps.count - 1].output.popLast() == "\n" else {
          throw Malformed(line: number, description: "no output that could lack its newline")
        }
        isCommand = false
      } else {
        steps[steps.count - 1].output += line + "\n"
        isCommand = false
      }
    }
  }

  /// The text that reads back as this transcript.
  var text: String {
    var text = comments.map { $0 + "\n" }.joined()
    for step in steps {
      text += "$ " + step.command.replacing("\n", with: "\n> ") + "\n" + step.output
      if let last = step.output.last, last != "\n" { text += "\n" + Self.unended + "\n" }
      if step.status != 0 { text += "? \(step.status)\n" }
    }
    return text
  }

  /// The same session with a name in place of all that differs from run to run.
  func masked(home: String? = nil) -> Transcript {
    var masks = Masks(home: home)
    var masked = self
    for index in steps.indices { masked.steps[index].output = masks.apply(to: steps[index].output) }
    return masked
  }

  /// How the text of `actual` differs, line by line; nil where it does not.
  func difference(from actual: Transcript) -> String? {
    let expected = text.split(separator: "\n", omittingEmptySubsequences: false)
    let came = actual.text.split(separator: "\n", omittingEmptySubsequences: false)
    let change = came.difference(from: expected)
    if change.isEmpty { return nil }
    // Unchanged lines stand between the changes, so that it is seen which command they belong to.
    var removed: [Int: Substring] = [:]
    var inserted: [Int: Substring] = [:]
    for step in change {
      switch step {
      case .remove(let offset, let line, _): removed[offset] = line
      case .insert(let offset, let line, _): inserted[offset] = line
      }
    }
    var lines: [String] = []
    var old = 0
    var new = 0
    while old < expected.count || new < came.count {
      if let line = removed[old] {
        lines.append("- " + line)
        old += 1
      } else if let line = inserted[new] {
        lines.append("+ " + line)
        new += 1
      } else {
        lines.append("  " + expected[old])
        old += 1
        new += 1
      }
    }
    return lines.joined(separator: "\n")
  }
}
