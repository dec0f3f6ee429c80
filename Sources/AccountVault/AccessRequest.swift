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
  /// The app's id.
  public var app: String
  /// The provider's id.
  public var type: String
  /// Names as the provider writes them.
  public var permissions: [String]
  /// What the ask is for; nil where the permissions decide.
  public var group: Ask.Group?
  /// Who sees what is written; needed for write permissions of providers that know audiences.
  public var audience: Audience?
  /// As a person would name it.
  public var account: String?

  /// An ask of an app for permissions at a provider.
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
  /// The app that asks.
  public let app: App
  /// The account that it would be about.
  public let account: Account
  /// What people call the provider, such as `Facebook`.
  public let providerName: String
  /// What is asked for, without what was decided before.
  public let permissions: [Permission]
  /// The group that all of them belong to: reading and writing are asked for apart.
  public let group: PermissionGroup
  /// Who would see what is written; nil where nothing is.
  public let audience: Audience?
  /// The basic permission that was put in because a first ask needs one.
  public let added: String?
}

/// The person's answer.
public enum AccessAnswer: Sendable {
  /// Yes to these; the others of the question are denied.
  case grant([String])
  /// No to all of the question.
  case deny
  /// Nobody could be asked, or nobody answered: the ask stays pending.
  case nobody
}

/// Who answers an app's ask. A value, so that a terminal, a test or a page can be one.
public struct Asker {
  /// Which of several accounts; nil where nobody can choose.
  public var choose: ([Account]) throws(VaultError) -> Account?
  /// Puts one question and waits for its answer; what it throws ends the ask as interrupted.
  public var answer: (AccessQuestion) throws(VaultError) -> AccessAnswer
  /// The process that asks, where it waits for an answer.
  public var process: Ask.Asker?

  /// Somebody who can be asked.
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
  /// What an ask came to.
  public enum Decision: String, Sendable {
    /// At least one permission is granted.
    case granted
    /// Everything that was asked for was declined.
    case denied
    /// There is no account of the type. Not a no, and not remembered as one.
    case noAccount = "no_account"
    /// Nobody has decided yet: the ask waits for the person.
    case pending
  }

  /// The app's id.
  public let app: String
  /// The provider's id.
  public let type: String
  /// The account that it was about; nil where there is none of the type, and where the app does not
  /// see it.
  public let account: Account?
  /// `granted` where at least one permission is.
  public let decision: Decision
  /// Those that were asked for and are granted, now or from before.
  public let granted: [String]
  /// Those that were asked for and are denied.
  public let declined: [String]
}
