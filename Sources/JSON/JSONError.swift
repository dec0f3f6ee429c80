/// Why a text is not the JSON that was asked for. It names members, never values.
package enum JSONError: Error, Equatable {
  /// Not RFC 8259 JSON, or with what this program refuses in it; says which.
  case malformed(String)

  /// More bytes than the reader takes.
  case tooLarge

  /// More arrays and objects in each other than ``JSONText/maximumDepth``.
  case tooDeep

  /// A member that is used stands twice in its object: readers differ on which of them counts.
  case duplicateMember(String)

  /// A value of another type than the reader needs, at a path such as `$.data[0].id`.
  case wrongType(path: String)
}
