public import Accounts
public import Faults
public import Ledger
public import Providers
public import Time

// What the library's callers meet, under one roof: an embedder imports AccountVault and nothing else.

public typealias Account = Accounts.Account
public typealias AccountID = Accounts.AccountID
public typealias App = Accounts.App
public typealias Ask = Accounts.Ask
public typealias Audience = Accounts.Audience
public typealias Client = Accounts.Client
public typealias ClientReference = Accounts.ClientReference
public typealias Credential = Accounts.Credential
public typealias CredentialState = Accounts.CredentialState
public typealias Expiry = Accounts.Expiry
public typealias Permission = Accounts.Permission
public typealias PermissionGroup = Accounts.PermissionGroup
public typealias PermissionStanding = Accounts.PermissionStanding
public typealias PermissionState = Accounts.PermissionState
public typealias Checkpoint = Ledger.Checkpoint
public typealias ConsistencyProofNote = Ledger.ConsistencyProofNote
public typealias Entry = Ledger.Entry
public typealias Event = Ledger.Event
public typealias Evidence = Ledger.Evidence
public typealias InclusionProofNote = Ledger.InclusionProofNote
public typealias NoteError = Ledger.NoteError
public typealias ProofError = Ledger.ProofError
public typealias SignedCheckpoint = Ledger.SignedCheckpoint
public typealias SignedNote = Ledger.SignedNote
public typealias VerifierKey = Ledger.VerifierKey
public typealias DefinitionError = Providers.DefinitionError
public typealias Provider = Providers.Provider
public typealias Clock = Time.Clock
public typealias Timestamp = Time.Timestamp
public typealias VaultError = Faults.VaultError
