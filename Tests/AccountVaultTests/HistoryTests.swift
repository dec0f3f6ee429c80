import AccountVault
import Encoding
import Foundation
import Ledger
import SQLite
import TestSupport
import Testing
import Time

@Suite struct `The history` {
  @Test func `is asked by app, account, event, time and number`() throws {
    let place = try Place()
    let session = try place.create()
    let a = try session.addFacebook("a")
    let b = try session.addFacebook("b")
    place.clock.advance(100)
    let later = place.clock.now
    for (app, account) in [("1", "a"), ("1", "b"), ("2", "a")] {
      _ = try session.grant(Decision(app: app, permissions: ["email"], account: account))
    }
    func find(_ change: (inout HistoryQuery) -> Void) throws -> [Entry] {
      var query = HistoryQuery()
      change(&query)
      var found: [Entry] = []
      try session.history(query) { found.append($0) }
      return found
    }
    #expect(try find { _ in }.map(\.number) == Array(0..<8))
    #expect(try find { $0.app = "1" }.map(\.event) == [.appAdded, .granted, .granted])
    #expect(try find { $0.account = b.id }.map(\.event) == [.accountAdded, .granted])
    #expect(try find { $0.event = .granted }.count == 3)
    #expect(
      try find {
        $0.event = .granted
        $0.account = a.id
        $0.app = "2"
      }.count == 1)
    #expect(try find { $0.since = later }.map(\.number) == Array(3..<8))
    #expect(try find { $0.since = later + 1 }.isEmpty)
    #expect(try find { $0.limit = 2 }.map(\.number) == [6, 7])
    #expect(
      try find {
        $0.limit = 2
        $0.event = .accountAdded
      }.map(\.number) == [1, 2])
    #expect(try find { $0.limit = 0 }.isEmpty)
    #expect(try find { $0.from = 6 }.map(\.number) == [6, 7])
    #expect(try find { $0.from = 8 }.isEmpty)
    #expect(try find { $0.from = .max }.isEmpty)
    #expect(try session.entryCount() == 8)
  }

  @Test func `says who did it`() throws {
    let place = try Place()
    do {
      let session = try place.create()
      try session.addFacebook()
    }
    var options = place.unlocking
    options.actor = "configuration"
    let session = try Vault.open(at: place.path).unlock(with: .keyFile(.key()), options: options)
    _ = try session.grant(Decision(app: "123", permissions: ["email"], reason: "as configured"))
    #expect(try session.entries(.granted).map(\.actor) == ["configuration"])
    #expect(try session.entries(.granted).map(\.reason) == ["as configured"])
    #expect(try session.entries(.accountAdded).map(\.actor) == ["owner"])
  }

  @Test func `holds no secret, and the file shows neither names nor permissions`() throws {
    let place = try Place()
    let session = try place.create()
    let canaries = [
      "canary-user", "canary-id-77", "canary-description", "canary-token-abcdef",
      "canary-refresh-token", "canary-app", "canary-app-name", "canary-client", "tweet.write",
      "canary-reason", "canary-client-secret",
    ]
    _ = try session.addClient(
      type: "x", clientID: canaries[7], secret: .text(canaries[10]))
    _ = try session.addAccount(
      NewAccount(
        type: "x", username: canaries[0], userID: canaries[1], description: canaries[2]),
      credential: .response(
        .text(
          #"{"access_token":"\#(canaries[3])","refresh_token":"\#(canaries[4])","#
            + #""expires_in":7200,"scope":"tweet.write"}"#)))
    _ = try session.addApp(canaries[5], name: canaries[6])
    _ = try session.grant(
      Decision(app: canaries[5], permissions: ["tweet.write"], reason: canaries[9]))
    #expect(try session.tokenText(app: canaries[5]) == canaries[3])
    try session.backUp(to: place.directory("copy"))
    var searched = 0
    let names = FileManager.default.enumerator(atPath: place.directory.path)?.allObjects
    for case let name as String in names ?? [] {
      guard let data = FileManager.default.contents(atPath: place.directory(name)) else { continue }
      searched += 1
      for canary in canaries {
        #expect(data.range(of: Data(canary.utf8)) == nil, "\(canary) in \(name)")
      }
    }
    #expect(searched >= 5)
    let shown = try session.entries().map { "\($0)" }.joined()
    for secret in [canaries[3], canaries[4], canaries[10]] { #expect(!shown.contains(secret)) }
    #expect(shown.contains(canaries[0]) && shown.contains(canaries[9]))
  }
}

@Suite struct `A checkpoint` {
  @Test func `is a signed note that our own types verify`() throws {
    let session = try Place().create()
    try session.fill()
    let text = try session.checkpoint().text
    let key = session.verifierKey
    #expect(key.name == "vault/\(session.vaultID)/\(session.vaultID)")
    let head = try SignedCheckpoint(parsing: text).verified(with: VerifierKey(parsing: key.text))
    #expect(head.size == (try session.entryCount()))
    #expect(head.rootText == (try session.verify().root))
    #expect(text.hasPrefix("\(key.name)\n\(head.size)\n\(head.rootText)\n\n— \(key.name) "))
  }

  @Test func `and the proofs are what another program makes of them`() throws {
    let place = try Place()
    let session = try place.create()
    try session.fill()
    let old = try session.checkpoint().text
    for number in 0..<5 { try session.addFacebook("more-\(number)") }
    let consistency = try session.proveConsistency(with: old).text
    let key = session.verifierKey.text
    let leaves = try place.leaves()
    for number in [0, 1, 7, leaves.count - 1] {
      let proof = try session.prove(UInt64(number)).text
      #expect(try check("inclusion", key, proof, leaves[number].hex) == "good")
      let other = leaves[(number + 1) % leaves.count].hex
      #expect(try check("inclusion", key, proof, other) == "bad root")
      #expect(
        try check(
          "inclusion", key, proof.replacing("\nvault/", with: "\nwault/"), leaves[number].hex)
          == "bad signature")
    }
    #expect(try check("consistency", key, consistency, old) == "good")
    var lines = old.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    lines[2] = (lines[2].hasPrefix("A") ? "B" : "A") + lines[2].dropFirst()
    let forged = lines.joined(separator: "\n")
    #expect(try check("consistency", key, consistency, forged) == "bad signature")
  }

  @Test func `that was kept is held against the ledger`() throws {
    let place = try Place()
    let session = try place.create()
    try session.fill()
    let kept = try session.checkpoint().text
    try session.addFacebook("later")
    let result = try session.verify(against: kept)
    #expect(result.anchored && result.checked.contains("checkpoint"))
    // Of another vault, cut, signed by nobody, not one at all.
    let other = try Place().create().checkpoint().text
    let lines = kept.split(separator: "\n", omittingEmptySubsequences: false)
    let resized = ([lines[0], "2"] + lines[2...]).joined(separator: "\n")
    for (text, code) in [
      (other, VaultError.Code.damaged), (resized, .damaged), ("hello", .usage), ("", .usage),
    ] {
      #expect(
        refusal { () throws(VaultError) in try session.verify(against: text) }.code == code)
      #expect(
        refusal { () throws(VaultError) in try session.proveConsistency(with: text) }.code
          == code)
    }
    let far = refusal { () throws(VaultError) in try session.prove(session.entryCount()) }
    #expect(far.code == .notFound)
  }

  @Test func `finds a ledger that is shorter or other than the one it signed`() throws {
    let place = try Place()
    let copy = place.directory("copy")
    let kept: String
    do {
      let session = try place.create()
      try session.fill()
      try session.flush()
      try place.copy(place.path, to: copy)
      try session.addFacebook("later")
      kept = try session.checkpoint().text
    }
    // A place of its own for heads, so that only the kept checkpoint can tell.
    var options = place.unlocking
    options.headDirectory = place.directory("other-state")
    options.isLooking = true
    do {
      let session = try Vault.open(at: copy).unlock(with: .keyFile(.key()), options: options)
      #expect(try !session.verify().anchored)
      let error = refusal { () throws(VaultError) in try session.verify(against: kept) }
      #expect(error.code == .damaged && error.reason == .rolledBack)
    }
    options.isLooking = false
    let session = try Vault.open(at: copy).unlock(with: .keyFile(.key()), options: options)
    try session.addFacebook("another")
    let error = refusal { () throws(VaultError) in try session.verify(against: kept) }
    #expect(error.code == .damaged && error.reason == .forked)
  }
}

extension Place {
  /// The leaves, read by SQLite alone.
  func leaves() throws -> [[UInt8]] {
    let connection = try Connection.open(path, .readWrite)
    try connection.setDoNotCheckpointOnClose(true)
    let select = try connection.prepare("SELECT leaf FROM entry ORDER BY number")
    var leaves: [[UInt8]] = []
    while try select.step() { leaves.append(select.bytes(0)) }
    return leaves
  }
}

extension [UInt8] {
  fileprivate var hex: String { Hex.encode(self) }
}

/// Runs the checker below and answers its word.
private func check(_ what: String, _ key: String, _ proof: String, _ more: String) throws -> String
{
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/env")
  process.arguments = ["python3", "-c", checker, what, key, proof, more]
  let output = Pipe()
  process.standardOutput = output
  try process.run()
  let data = try output.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  try #require(process.terminationStatus == 0)
  return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
}

/// RFC 8032 and RFC 9162 once more, in another language and without any of our code.
private let checker = #"""
  import sys, base64, hashlib
  P = 2**255 - 19
  L = 2**252 + 27742317777372353535851937790883648493
  D = -121665 * pow(121666, P - 2, P) % P
  ROOT = pow(2, (P - 1) // 4, P)

  def lift(y, sign):
      square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
      x = pow(square, (P + 3) // 8, P)
      if (x * x - square) % P: x = x * ROOT % P
      if (x * x - square) % P: return None
      return P - x if x % 2 != sign else x

  def point(data):
      number = int.from_bytes(data, "little")
      y = number & (2**255 - 1)
      x = lift(y, number >> 255)
      return None if x is None else (x, y)

  def add(a, b):
      (x1, y1), (x2, y2) = a, b
      t = D * x1 * x2 * y1 * y2 % P
      return ((x1 * y2 + x2 * y1) * pow(1 + t, P - 2, P) % P,
              (y1 * y2 + x1 * x2) * pow(1 - t, P - 2, P) % P)

  def times(n, a):
      total = (0, 1)
      while n:
          if n & 1: total = add(total, a)
          a = add(a, a)
          n >>= 1
      return total

  BY = 4 * pow(5, P - 2, P) % P
  B = (lift(BY, 0), BY)

  def signed(public, message, signature):
      s = int.from_bytes(signature[32:], "little")
      a, r = point(public), point(signature[:32])
      if len(signature) != 64 or s >= L or a is None or r is None: return False
      h = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % L
      return times(s, B) == add(r, times(h, a))

  def sha(*parts): return hashlib.sha256(b"".join(parts)).digest()
  def end(word): print(word); sys.exit(0)

  def checkpoint(text, key):
      name, keyid, public = key.split("+", 2)
      public = base64.b64decode(public, validate=True)
      if public[0] != 1 or sha(name.encode(), b"\n", public)[:4].hex() != keyid: end("bad key")
      body, signatures = text.split("\n\n")
      origin, size, root = body.split("\n")
      dash, who, data = signatures.rstrip("\n").split(" ")
      data = base64.b64decode(data, validate=True)
      if origin != name or who != name or dash != "\u2014" or data[:4].hex() != keyid:
          end("bad signature")
      if not signed(public[1:], (body + "\n").encode(), data[4:]): end("bad signature")
      return int(size), base64.b64decode(root, validate=True)

  what, key, proof, more = sys.argv[1:]
  head, note = proof.split("\n\n", 1)
  lines = head.split("\n")
  size, root = checkpoint(note, key)
  if what == "inclusion":
      if lines[0] != "c2sp.org/tlog-proof@v1": end("bad form")
      index = int(lines[1].removeprefix("index "))
      path = [base64.b64decode(line, validate=True) for line in lines[2:]]
      if index >= size: end("bad index")
      fn, sn, r = index, size - 1, sha(b"\0", bytes.fromhex(more))
      for p in path:
          if sn == 0: end("bad length")
          if fn & 1 or fn == sn:
              r = sha(b"\1", p, r)
              while not fn & 1 and fn: fn, sn = fn >> 1, sn >> 1
          else:
              r = sha(b"\1", r, p)
          fn, sn = fn >> 1, sn >> 1
      end("good" if sn == 0 and r == root else "bad root")
  old, oldroot = checkpoint(more, key)
  if lines[1:3] != ["old %d" % old, "new %d" % size]: end("bad form")
  path = [base64.b64decode(line, validate=True) for line in lines[3:]]
  if old & (old - 1) == 0: path = [oldroot] + path
  fn, sn = old - 1, size - 1
  while fn & 1: fn, sn = fn >> 1, sn >> 1
  fr = sr = path[0]
  for c in path[1:]:
      if sn == 0: end("bad length")
      if fn & 1 or fn == sn:
          fr, sr = sha(b"\1", c, fr), sha(b"\1", c, sr)
          while not fn & 1 and fn: fn, sn = fn >> 1, sn >> 1
      else:
          sr = sha(b"\1", sr, c)
      fn, sn = fn >> 1, sn >> 1
  end("good" if sn == 0 and fr == oldroot and sr == root else "bad root")
  """#
