import AccountVaultNetwork
import Foundation
import OAuth
import Sodium
import TestSupport
import Testing

@testable import AccountVault

/// The library's DPoP proofs (RFC 9449), as glewlwyd sees them, which demands its own nonces.
@Suite(.serialized) struct `A server that binds tokens to keys` {
  let peer: Peer
  let client: Peer.Client

  init() throws {
    peer = try Peer(.glewlwyd)
    client = try peer.client("public")
  }

  func key() throws -> DPoP.Key {
    try Signatures.libcrypto.proofKey(Signatures.libcrypto.newProofKey())
  }

  /// Sends a form to the token endpoint with a proof, and once more with the nonce it asks for.
  func send(
    _ form: KeyValuePairs<String, String>, by key: DPoP.Key
  ) throws -> (first: Curl.Reply, second: Curl.Reply) {
    let url = try peer.endpoint("token", of: "bound")
    func proof(_ nonce: String?) throws -> String {
      try DPoP.proof("POST", RequestURL(url), by: key, nonce: nonce, time: Signed.now())
    }
    let first = try Curl.send(url, form: form, headers: ["DPoP: \(proof(nil))"])
    let second = try Curl.send(url, form: form, headers: ["DPoP: \(proof(first.nonce))"])
    return (first, second)
  }

  @Test func `takes proofs with its nonce, once, and renews by no other key`() throws {
    let key = try key()
    let begun = try Curl.send(
      peer.endpoint("device", of: "bound"),
      form: ["client_id": client.id, "scope": "read write"]
    ).json()
    let approved = try peer.ask(
      "approve",
      [
        "server": "bound", "client_id": client.id,
        "user_code": begun["user_code"].text ?? "",
      ])
    #expect(approved["approved"].bool == true)
    let polled = try send(
      [
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": client.id,
        "device_code": begun["device_code"].text ?? "",
      ], by: key)
    #expect(try polled.first.json()["error"].text == "use_dpop_nonce", "\(polled.first)")
    #expect(!polled.first.nonce.isEmpty)
    let tokens = try polled.second.json()
    #expect(tokens["token_type"].text == "DPoP", "\(polled.second)")

    // Renewed: the same key, and no other.
    func refresh(by key: DPoP.Key) throws -> Curl.Reply {
      try send(
        [
          "grant_type": "refresh_token", "client_id": client.id,
          "refresh_token": tokens["refresh_token"].text ?? "",
        ], by: key
      ).second
    }
    #expect(try refresh(by: self.key()).status >= 400)
    let renewed = try refresh(by: key)
    #expect(renewed.status == 200, "\(renewed)")

    // Used: with the token's hash, on this address, once. (Of the key glewlwyd 2.7.5 makes sure at its
    // token address alone.)
    let token = try renewed.json()["access_token"].text ?? ""
    let url = try peer.endpoint("resource", of: "bound")
    func proof(_ key: DPoP.Key, _ nonce: String?) throws -> String {
      try DPoP.proof(
        "GET", RequestURL(url), by: key, accessTokenHash: DPoP.hash(of: SecretBytes(token)),
        nonce: nonce, time: Signed.now())
    }
    func read(_ proof: String) throws -> Curl.Reply {
      try Curl.send(url, headers: ["Authorization: DPoP \(token)", "DPoP: \(proof)"])
    }
    let nonce = try read(proof(key, nil)).nonce
    #expect(!nonce.isEmpty)
    let good = try proof(key, nonce)
    #expect(try read(good).status == 200)
    #expect(try read(good).status == 401)
    #expect(try Curl.send(url, headers: ["Authorization: Bearer \(token)"]).status == 401)
  }
}
