/// Where a value stands in a reply: member names joined by dots, `*` for each element of an array.
///
/// In `response` a path is looked for beside the token; one that begins with `$.` starts at the top.
package struct MemberPath: Hashable, Sendable, CustomStringConvertible {
  package enum Step: Hashable, Sendable {
    case member(String)
    case each
  }

  package let steps: [Step]
  package let isFromTop: Bool

  /// Nil for an empty name, a path of more than 8 steps, or `*` at the end of nothing.
  package init?(_ text: String) {
    isFromTop = text.hasPrefix("$.")
    let rest = isFromTop ? text.dropFirst(2) : text[...]
    let names = rest.split(separator: ".", omittingEmptySubsequences: false)
    guard !names.isEmpty, names.count <= 8, names.allSatisfy({ !$0.isEmpty }), names[0] != "*"
    else { return nil }
    steps = names.map { $0 == "*" ? .each : .member(String($0)) }
  }

  private init(steps: [Step]) {
    self.steps = steps
    isFromTop = false
  }

  /// The same path beside `other`, unless it starts at the top.
  package func beside(_ other: MemberPath) -> MemberPath {
    isFromTop ? MemberPath(steps: steps) : MemberPath(steps: other.steps.dropLast() + steps)
  }

  package var description: String {
    steps.map { step in
      switch step {
      case .member(let name): name
      case .each: "*"
      }
    }.joined(separator: ".")
  }
}
