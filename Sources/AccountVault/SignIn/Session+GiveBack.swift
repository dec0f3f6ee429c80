import Accounts
import Faults
import Sodium
import Time

extension Session {
  /// Gives a new token back to the provider that the vault does not take, because it is another
  /// person's, so that nobody has it.
  ///
  /// It goes through the queue of revocations, so that it is sent later where the provider cannot be
  /// told now. What goes wrong here hides nothing: the caller is told of the wrong user.
  func giveBack(
    _ secret: borrowing CredentialSecret, _ credential: Credential, userID: String?,
    _ subject: SignInSubject, over network: Network
  ) async {
    // Nothing is in the vault of an account that was only to be added: the queue and the ledger name it
    // by an id of its own.
    let account =
      subject.known
      ?? Account(
        id: AccountID(Random.key16()), type: subject.type, username: userID ?? "", createdAt: now)
    do throws(VaultError) {
      let notice = try discard(secret, credential, for: account, userID: userID)
      guard notice?.isPending == true, !Task.isCancelled else { return }
      _ = try await sendRevocations(over: network) {
        $0.cause == .wrongUser && $0.account == account.id
      }
    } catch {
      return
    }
  }
}
