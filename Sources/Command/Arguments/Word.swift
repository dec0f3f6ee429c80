internal import CSystem

/// One thing on a command line, as getopt_long reads it against the table.
enum Word: Equatable {
  /// An option that takes no value, or one with its value.
  case option(OptionName, value: String?)
  case argument(String)
  /// An option that the table does not have. `written` is what stood before any `=`, or the letter.
  case unknown(written: String)
  case valueMissing(OptionName)
  case valueUnwanted(OptionName)

  typealias OptionName = String

  /// Reads the words in order. The last one may be a wrong one; nothing follows it.
  ///
  /// Abbreviations are unknown options: a later release could give them another meaning.
  ///
  /// - Precondition: No argument holds a NUL, which the kernel cannot pass.
  static func read(_ arguments: [String], table: [OptionSpec]) -> [Word] {
    let text = CStrings.packed(arguments)
    let names = CStrings.packed(table.map(\.name))
    let takesValue = table.map { UInt8($0.value == nil ? 0 : $0.isValueOptional ? 2 : 1) }
    let letters = table.map { $0.letter?.asciiValue ?? 0 }
    // No word is shorter than a byte, and a cluster of letters has one word for each.
    var words = [vault_word](repeating: vault_word(), count: arguments.count + text.count)
    let count = unsafe vault_read_words(
      text, Int32(arguments.count), names, takesValue, letters, Int32(table.count), &words,
      Int32(words.count))
    precondition(count >= 0, "no memory to read the arguments")
    return words.prefix(Int(count)).map { Word($0, arguments, table) }
  }

  private init(_ word: vault_word, _ arguments: [String], _ table: [OptionSpec]) {
    let value: String? =
      word.value_word < 0
      ? nil
      : String(
        decoding: arguments[Int(word.value_word)].utf8.dropFirst(Int(word.value_offset)),
        as: UTF8.self)
    let name = word.option < 0 ? "" : table[Int(word.option)].name
    switch Int(word.kind) {
    case VAULT_WORD_OPTION: self = .option(name, value: value)
    case VAULT_WORD_ARGUMENT: self = .argument(value ?? "")
    case VAULT_WORD_VALUE_MISSING: self = .valueMissing(name)
    case VAULT_WORD_VALUE_UNWANTED: self = .valueUnwanted(name)
    default:
      let written = arguments[Int(word.word)].prefix { $0 != "=" }
      // Of a cluster of letters only the first is named: what follows may be a value.
      self = .unknown(written: String(written.hasPrefix("--") ? written : written.prefix(2)))
    }
  }
}
