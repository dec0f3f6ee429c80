import Providers
import Testing

@Suite struct `Tencent's error catalogue` {
  static let weibo: [(ret: Int, expected: ErrorClass?)] = [
    (0, nil), (1, .content), (2, .throttled), (3, .expired), (4, .transient), (5, .content),
    (6, .userAction), (7, .userAction),
  ]

  static let connect: [(codes: [Int], expected: ErrorClass)] = [
    ([100014], .expired), ([100013, 100015, 100016], .invalid), ([100030], .permission),
    ([100031], .config), (Array(100036...100042), .invalid), ([100045], .invalid),
    ([100032], .transient), ([110405], .throttled), (Array(100001...100012), .config),
    ([100044], .config), ([110401, 110402, 110403, 110404, 110406], .config),
  ]

  @Test func `reads ret in replies whose status is 200`() {
    for row in Self.weibo {
      for errcode in ["0", "1", "36", #""7""#] {
        for status in [200, 400] where row.expected != nil || status == 200 {
          CatalogueCase.play(
            [
              CatalogueCase(
                status, #"{"ret":\#(row.ret),"errcode":\#(errcode),"msg":"m","data":null}"#,
                row.expected)
            ], builtIn("tencentweibo"))
        }
      }
    }
  }

  @Test func `reads the codes of QQ Connect in every wrapping`() {
    for row in Self.connect {
      for code in row.codes {
        for body in [
          #"callback( {"error":\#(code),"error_description":"made up"} );"#,
          #"{"error":\#(code),"error_description":"made up"}"#,
          #"{"error":"\#(code)"}"#, "error=\(code)&error_description=made+up",
          #"{"ret":\#(code),"msg":"made up"}"#,
        ] {
          CatalogueCase.play(
            [
              CatalogueCase(200, body, row.expected),
              CatalogueCase(200, body, from: .renewal, row.expected),
            ], builtIn("tencentweibo"))
        }
      }
    }
  }

  @Test func `never rejects for an errorCode that it does not know`() {
    CatalogueCase.play(
      [
        CatalogueCase(200, "errorCode=41001&errorMsg='made up'", from: .renewal, .config),
        CatalogueCase(200, "errorCode=41001&errorMsg='made up'", from: .token, .config),
        CatalogueCase(200, #"{"ret":99,"msg":"m"}"#, .content),
      ], builtIn("tencentweibo"))
  }
}
