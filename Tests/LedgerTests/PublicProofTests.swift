import Encoding
import Foundation
import Testing

@testable import Ledger

/// The good and bad proofs of transparency-dev/merkle.
enum PublicProofs {
  struct Inclusion: Decodable {
    let leafIdx: UInt64
    let treeSize: UInt64
    let root: Data
    let leafHash: Data
    let proof: [Data]?
    let wantErr: Bool
  }

  struct Consistency: Decodable {
    let size1: UInt64
    let size2: UInt64
    let root1: Data
    let root2: Data
    let proof: [Data]?
    let wantErr: Bool
  }

  static let file = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
    .appending(path: "shared/cases/public/rfc6962_proofs.json")

  static var areHere: Bool { FileManager.default.fileExists(atPath: file.path) }

  static func cases<Case: Decodable>(_ kind: String, _: Case.Type) throws -> [(String, Case)] {
    let whole = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
    let all = try #require(whole as? [String: Any])
    return try all.filter { $0.key.hasPrefix(kind + "/") }.map { name, value in
      let data = try JSONSerialization.data(withJSONObject: value)
      return (name, try JSONDecoder().decode(Case.self, from: data))
    }
  }

  /// A root of another length stands for itself: it is only compared.
  static func root(_ data: Data) -> Digest32 {
    Digest32((Array(data) + [UInt8](repeating: 0, count: 32)).prefix(32).map { $0 })
  }

  /// Nil where a hash has another length, which no proof here can hold.
  static func hashes(_ proof: [Data]?) -> [Digest32]? {
    let proof = proof ?? []
    return proof.allSatisfy { $0.count == 32 } ? proof.map { Digest32(Array($0)) } : nil
  }
}

@Suite(.enabled(if: PublicProofs.areHere, "the shared cases are not beside the project"))
struct `The public proofs` {
  @Test func `of inclusion are judged as published`() throws {
    let cases = try PublicProofs.cases("inclusion", PublicProofs.Inclusion.self)
    #expect(cases.count == 98)
    for (name, proof) in cases {
      var holds = false
      if let hashes = PublicProofs.hashes(proof.proof), proof.leafHash.count == 32 {
        holds =
          (try? InclusionProof(number: proof.leafIdx, size: proof.treeSize, hashes: hashes)
            .verify(
              leafHash: PublicProofs.root(proof.leafHash), root: PublicProofs.root(proof.root)))
          != nil
      }
      #expect(holds == !proof.wantErr, "\(name)")
    }
  }

  @Test func `of consistency are judged as published`() throws {
    let cases = try PublicProofs.cases("consistency", PublicProofs.Consistency.self)
    #expect(cases.count == 98)
    for (name, proof) in cases {
      var holds = false
      if let hashes = PublicProofs.hashes(proof.proof) {
        holds =
          (try? ConsistencyProof(from: proof.size1, to: proof.size2, hashes: hashes).verify(
            oldRoot: PublicProofs.root(proof.root1), newRoot: PublicProofs.root(proof.root2)))
          != nil
      }
      #expect(holds == !proof.wantErr, "\(name)")
    }
  }
}
