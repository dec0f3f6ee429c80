import Foundation

/// The cases that are shared between programs, beside the package: read there, never copied here.
public enum SharedCases {
  static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "shared/cases")

  public static let arePresent = FileManager.default.fileExists(atPath: folder.path)

  public static func read<Value: Decodable>(_ type: Value.Type, _ path: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(contentsOf: folder.appending(path: path)))
  }
}
