import Glibc

// What `Scripts/bench` runs of the networked parts, one job a process. An executable of its own, so that
// `vault-bench` loads no libcurl.

let words = CommandLine.arguments
do {
  switch words.count > 1 ? words[1] : "" {
  case "sign":
    guard words.count == 3, let count = Int(words[2]) else { fallthrough }
    try Signing(count: count).run()
  case "requests":
    guard words.count == 6, let count = Int(words[3]), let atOnce = Int(words[4]), atOnce > 0
    else { fallthrough }
    try await Requests(url: words[2], count: count, atOnce: atOnce, authority: words[5]).run()
  case "renew":
    guard words.count == 6, let round = Int64(words[5]), round >= 0 else { fallthrough }
    try await Renewing(
      directory: words[2], url: words[3], authority: words[4], round: round
    ).run()
  default:
    Swift.print(
      """
      usage: vault-network-bench sign COUNT | requests URL COUNT AT-ONCE CA-FILE
             vault-network-bench renew DIR URL CA-FILE ROUND
      """)
    exit(64)
  }
} catch {
  Swift.print("vault-network-bench: \(error)")
  exit(1)
}
