import Testing

@testable import Agent

@Suite struct `What the agent counts` {
  @Test func `counts each kind by its labels, from many threads`() async {
    let metrics = Metrics()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<1000 {
            metrics.count(.handOut(.token))
            metrics.count(.refusal(.neverAsked))
          }
        }
      }
    }
    metrics.count(.request(.apps, path: "/v1/token", status: 200))
    #expect(metrics.all[.handOut(.token)] == 8000)
    #expect(metrics.all[.refusal(.neverAsked)] == 8000)
    #expect(metrics.all[.request(.apps, path: "/v1/token", status: 200)] == 1)
    #expect(metrics.all[.handOut(.signature)] == nil)
  }
}
