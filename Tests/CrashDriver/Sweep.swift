import AccountVault
import Faults
import Foundation
import TamperSupport

/// Damages one file of a vault in every place, and looks at what the library makes of it.
///
/// Arguments: which file (`file`, `wal`, `head`), how (`flip`, `cut`), every how many places, and how
/// many processes share them, of which this is which. Prints `key=value` words. A damage is
/// *harmless* where the whole verifies and reads as before, *named* where `verify` refuses it and what
/// can still be read is right, and otherwise *silent* or *wrong*, which must never be.
struct Sweep {
  private let sample: SampleVault
  private let target: String
  private let cuts: Bool
  private let stride: Int
  private let shares: Int
  private let share: Int

  init(_ sample: SampleVault, _ arguments: [String]) {
    self.sample = sample
    let names = ["file": sample.path, "wal": sample.path + "-wal"]
    let heads = (try? FileManager.default.contentsOfDirectory(atPath: sample.heads)) ?? []
    let head = heads.first { $0.hasSuffix(".head") } ?? "none"
    target = names[arguments[0]] ?? "\(sample.heads)/\(head)"
    cuts = arguments[1] == "cut"
    stride = Int(arguments[2]) ?? 1
    shares = Int(arguments[3]) ?? 1
    share = Int(arguments[4]) ?? 0
  }

  func run() throws(VaultError) {
    let originals = files()
    let baseline = try baseline()
    restore(originals)
    guard let content = originals[target] else {
      print("error: nothing at \(target)")
      exit(1)
    }
    var counts: [String: Int] = [:]
    let places = cuts ? content.count : content.count * 8
    for place in Swift.stride(from: stride * share, to: places, by: stride * shares) {
      var damaged = originals
      if cuts {
        damaged[target] = Array(content[..<place])
      } else {
        damaged[target]?[place / 8] ^= 1 << (place % 8)
      }
      restore(damaged)
      // A crash leaves this line as the last one.
      FileHandle.standardError.write(Data("\(place)\r".utf8))
      let verdict = judge(against: baseline, handsOut: place % 64 < 8)
      counts[verdict, default: 0] += 1
      if verdict.hasPrefix("silent") || verdict.hasPrefix("wrong") { print("at=\(place)", verdict) }
    }
    restore(originals)
    print(counts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " "))
  }

  // MARK: Files

  private var paths: [String] {
    let heads = (try? FileManager.default.contentsOfDirectory(atPath: sample.heads)) ?? []
    return [sample.path, sample.path + "-wal"] + heads.map { "\(sample.heads)/\($0)" }
  }

  private func files() -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for path in paths {
      if let content = FileManager.default.contents(atPath: path) { files[path] = Array(content) }
    }
    return files
  }

  private func restore(_ files: [String: [UInt8]]) {
    for suffix in ["-shm", "-wal"] where files[sample.path + suffix] == nil {
      unlink(sample.path + suffix)
    }
    unlink(sample.path + "-shm")
    for (path, bytes) in files {
      let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      close(descriptor)
    }
  }

  // MARK: Judging

  private typealias Baseline = (root: String, entries: UInt64, reads: [Probe: Probe.Answer])

  private func baseline() throws(VaultError) -> Baseline {
    let session = try sample.unlock(looking: true)
    let verification = try session.verify()
    return (
      verification.root, verification.entries,
      // What a small vault does not have is not asked for.
      Probe.readAll(session, writing: false).merging(
        Probe.readAll(try sample.unlock(), writing: true)
      ) { looked, _ in looked }
      .filter { if case .text = $0.value { true } else { false } }
    )
  }

  /// - Parameter handsOut: Whether a sound vault is unlocked once more and hands out its token; that
  ///   its secrets open is a part of `verify`.
  private func judge(against baseline: Baseline, handsOut: Bool) -> String {
    var fault: VaultError?
    do throws(VaultError) {
      let session = try sample.unlock(looking: true)
      do throws(VaultError) {
        let found = try session.verify()
        // A missing or emptied head is not damage by the default rule; the others are held.
        if found.root != baseline.root || found.entries != baseline.entries { return "silent" }
      } catch {
        fault = error
        // An older state is sound in itself: it may be looked at, and is never served.
        if [.rolledBack, .forked].contains(error.reason) {
          return sample.refusal()?.reason == error.reason ? name(error) : "wrong:served"
        }
      }
      // Whether it verifies or not, what is read is right or is refused.
      var answers: [Probe: Probe.Answer] = [:]
      for probe in baseline.reads.keys where !probe.isWriting {
        answers[probe] = probe.answer(session)
      }
      if fault == nil, handsOut {
        answers[.firstToken] = Probe.firstToken.answer(try sample.unlock())
      }
      for (probe, answer) in answers {
        if answer == baseline.reads[probe] { continue }
        guard case .refusal(let error) = answer, fault != nil else { return "wrong:\(probe)" }
        if !isNamed(error) { return "wrong-error:\(probe):\(error.code.rawValue)" }
      }
    } catch {
      fault = error
    }
    guard let fault else { return "harmless" }
    return name(fault)
  }

  private func name(_ fault: VaultError) -> String {
    (isNamed(fault) ? "named:" : "wrong-verdict:")
      + (fault.reason == .unspecified ? fault.code.rawValue : fault.reason.rawValue)
  }

  /// A refusal that says what the file is.
  private func isNamed(_ error: VaultError) -> Bool {
    error.code == .damaged || error.code == .newerFormat
  }
}
