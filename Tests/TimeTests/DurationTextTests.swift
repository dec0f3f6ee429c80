import Testing
import Time

@Suite struct `A length of time` {
  @Test(arguments: [
    ("90s", 90), ("15m", 900), ("12h", 43_200), ("30d", 2_592_000), ("2w", 1_209_600), ("0s", 0),
    ("007m", 420), ("PT1H", 3600), ("PT90S", 90), ("PT1H30M", 5400), ("PT1H1S", 3601),
    ("P1D", 86_400), ("P1DT12H", 129_600), ("P2W", 1_209_600), ("PT0S", 0),
    ("9223372036854775807s", Int64.max),
  ])
  func `is read`(_ text: String, _ seconds: Int64) {
    #expect(DurationText.parse(text) == seconds)
  }

  @Test(arguments: [
    "", "90", "s", "-1s", "+1s", "1.5h", "1 h", " 1h", "1h ", "1H", "1h30m", "1y", "1ms", "٣s",
    "P", "PT", "P1DT", "PT1", "P1Y", "P1M", "PT1M1H", "PT1H1H", "P1W1D", "P1WT1H", "P1H", "pt1h",
    "P-1D", "PT0.5S", "P1D1D", "PTT1H", "9223372036854775808s", "9223372036854775807m",
    "PT9223372036854775807S1S", "P106751991167301D", "PT2562047788015215H31M",
  ])
  func `that cannot be is refused`(_ text: String) {
    #expect(DurationText.parse(text) == nil)
  }
}
