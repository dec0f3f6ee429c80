public import Faults
public import Accounts
import Time
import Encoding
import Ledger
import Providers
import Sodium
import Store

/// An app's own ask for access.
public struct AccessRequest: Sendable {
  public var app: String
  public var type: String
  public var permissions: [String]
  public var group: Ask.Group?
  public var audience: Audience?
  /// As a person would name it.
  public var account: String?

  public init(
    app: String, type: String, permissions: [String], group: Ask.Group? = nil,
    audience: Audience? = nil, account: String? = nil
  ) {
    self.app = app
    self.type = type
    self.permissions = permissions
    self.group = group
    self.audience = audience
    self.account = account
  }
}

/// One question to the person.
public struct AccessQuestion: Sendable {
  public let app: App
  public let account: Account
  public let providerName: String
  public let permissions: [Permission]
  public let group: PermissionGroup
  public let audience: Audience?
  /// The basic permission that was put in because a first ask needs one.
  public let added: String?
}

/// The person's answer.
public enum AccessAnswer: Sendable {
  /// Yes to these; the others of the question are denied.
  case grant([String])
  case deny
  /// Nobody could be asked, or nobody answered: the ask stays pending.
  case nobody
}

/// Who answers an app's ask. A value, so that a terminal, a test or a page can be one.
public struct Asker {
  /// Which of several accounts; nil where nobody can choose.
  public var choose: ([Account]) throws(VaultError) -> Account?
  public var answer: (AccessQuestion) throws(VaultError) -> AccessAnswer
  /// The process that asks, where it waits for an answer.
  public var process: Ask.Asker?

  public init(
    process: Ask.Asker? = nil,
    choose: @escaping ([Account]) throws(VaultError) -> Account?,
    answer: @escaping (AccessQuestion) throws(VaultError) -> AccessAnswer
  ) {
    self.process = process
    self.choose = choose
    self.answer = answer
  }

  /// Nobody: every ask stays pending.
  public static var nobody: Asker {
    Asker(choose: { (_) throws(VaultError) in nil }, answer: { (_) throws(VaultError) in .nobody })
  }
}

/// What came of an app's ask.
public struct AccessOutcome: Sendable {
  public enum Decision: String, Sendable {
    case granted
    case denied
    case noAccount = "no_account"
  }

  public let app: String
  public let type: String
  public let account: Account?
  public let decision: Decision
  public let granted: [String]
  public let declined: [String]
}
