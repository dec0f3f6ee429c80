import Providers
import Testing

@Suite struct `Weibo's error catalogue` {
  static let rows: [(codes: [Int], expected: ErrorClass)] = [
    ([10001, 10002, 10003, 10009, 10010, 10011], .transient), ([10004], .config),
    ([10005, 10014], .config), ([10006], .config),
    ([10007, 10008, 10012, 10016, 10017, 10018, 10020, 10021], .content), ([10013], .invalid),
    ([10022, 10023, 10024], .throttled), ([10032], .permission), ([20015], .userAction),
    ([20016, 20505, 20521, 20524], .throttled), ([20017, 20019, 20111], .content),
    ([20031, 20507], .userAction), ([20601, 20608, 20615], .content), ([21301, 21302], .invalid),
    ([21303], .throttled), ([21304, 21305, 21306, 21309, 21310, 21311, 21312, 21313], .config),
    ([21307], .clock), ([21308], .transient), ([21314], .invalid), ([21315], .expired),
    ([21316], .revoked), ([21317, 21318], .invalid), ([21319], .revoked),
    ([21320, 21321, 21322, 21323, 21324], .config), ([21325], .invalid), ([21326], .config),
    ([21327], .expired), ([21328, 21329], .config), ([21330], .invalid), ([21331], .transient),
    ([21332], .invalid), ([21335], .content), ([21337], .config), ([21405, 23201], .transient),
    ([21501], .content), ([21601, 21701], .config),
  ]

  @Test(arguments: rows.indices)
  func `classifies each code, as number and as text, in every status`(_ index: Int) {
    let row = Self.rows[index]
    for code in row.codes {
      for written in ["\(code)", "\"\(code)\""] {
        for status in [200, 400, 401, 403] {
          for text in ["expired_token", "invalid_grant", "made up"] {
            let body = #"{"request":"/2/x.json","error_code":\#(written),"error":"\#(text)"}"#
            #expect(
              meaning(builtIn("weibo"), status, body)?.errorClass == row.expected,
              "\(written) with \(status)")
            #expect(
              meaning(builtIn("weibo"), status, body, from: .token)?.errorClass == row.expected)
          }
        }
      }
    }
  }

  @Test func `classifies the example bodies`() {
    let weibo = builtIn("weibo")
    let examples: [(String, Endpoint, ErrorClass?)] = [
      (
        #"{"error":"expired_token","error_code":21327,"request":"/2/users/show.json"}"#, .api,
        .expired
      ),
      (
        #"{"request":"/2/statuses/update.json","error_code":"10023","error":"User requests out of rate limit!"}"#,
        .api, .throttled
      ),
      (
        #"{"error":"invalid_grant","error_code":21325,"request":"/oauth2/access_token","error_uri":"/oauth2/access_token","error_description":"invalid authorization code:x"}"#,
        .token, .invalid
      ),
    ]
    for (body, endpoint, expected) in examples {
      #expect(meaning(weibo, 400, body, from: endpoint)?.errorClass == expected)
    }
    let info =
      #"{"uid":1073880650,"appkey":1352222456,"scope":null,"create_at":1352267591,"expire_in":157679471}"#
    #expect(meaning(weibo, 200, info, from: .introspect) == nil)
    #expect(meaning(weibo, 200, #"{"result":"true"}"#, from: .revoke) == nil)
    #expect(meaning(weibo, 200, #"{"result":true}"#, from: .revoke) == nil)
  }

  @Test func `never rejects for a code that it does not know`() {
    for code in [21346, 29999, 1] {
      let body = #"{"error_code":\#(code),"error":"invalid_grant"}"#
      for status in [200, 400, 403] {
        let found = meaning(builtIn("weibo"), status, body, from: .renewal)
        #expect(found?.errorClass == .config, "\(code) with \(status)")
      }
    }
  }
}
