import AccountVault
import Faults
import Glibc

// What `Scripts/bench` runs of the library: `vault-bench JOB DIR …`, one job a process.

do throws(VaultError) {
  guard let job = Job(CommandLine.arguments) else {
    Swift.print(Job.usage)
    exit(64)
  }
  try await job.run()
} catch {
  Swift.print("vault-bench: \(error.message)")
  exit(1)
}
