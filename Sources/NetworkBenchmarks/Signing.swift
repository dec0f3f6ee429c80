import AccountVaultNetwork
import AccountVault
import OAuth
import Sodium
import Time

/// OAuth 1.0a signatures of one request, as `bench/hmac` makes them: four parameters in the query, a new
/// nonce each time, HMAC-SHA1, the whole header.
struct Signing {
  let count: Int

  func run() throws {
    let url = try RequestURL(
      "https://api.example.org/1.1/statuses/update.json"
        + "?status=Hello%20Ladies%20%2B%20Gentlemen%2C%20a%20signed%20OAuth%20request%21"
        + "&include_entities=true&count=200&cursor=-1")
    let credentials = SigningCredentials(
      clientID: "xvz1evFS4wEEPTGEFPHBog",
      clientSecret: secret("kAcSOqF21Fu85e7zjz7ZN2U4ZRhfV3WpwPAoE3Z7kBw"),
      token: secret("370773112-GmHxMAgYyLbNEtIKZeRNFsMKPR9EyMZeS9weJAEb"),
      tokenSecret: secret("LswwdoUaIvS8ltyTt5jkRh4J50vUPVVHtR2YPi5kE"))
    let request = try OAuth1Request("POST", url)
    let signer = Signatures.libcrypto.hmacSHA1
    var length = 0
    // Once unmeasured for each context and page that is made with the first.
    for _ in 0..<100 { length += try sign(request, credentials, signer) }
    let time = Timing()
    for _ in 0..<count { length += try sign(request, credentials, signer) }
    time.tell("signatures", count: count)
    if length == 0 { Swift.print("nothing was signed") }
  }

  private func sign(
    _ request: borrowing OAuth1Request, _ credentials: borrowing SigningCredentials,
    _ signer: RequestSigner
  ) throws -> Int {
    try request.authorization(by: credentials, signer, .at(Clock.system.now())).count
  }

  private func secret(_ text: String) -> SecretBytes {
    var bytes = Array(text.utf8)
    return SecretBytes(wiping: &bytes)
  }
}
