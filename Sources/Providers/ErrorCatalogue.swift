import JSON
package import Time

/// What a provider's refusals mean, from its definition and, where that is silent, from the
/// specifications and the status, in that order.
///
/// Codes decide, never texts: a message changes with the server's language and release. The one
/// exception is a row that gives a whole description.
package struct ErrorCatalogue: Sendable {
  package let provider: Provider

  package init(_ provider: Provider) { self.provider = provider }

  /// The meaning of a reply; nil where it is a success.
  ///
  /// - Parameters:
  ///   - status: The HTTP status; nil where no reply came.
  ///   - headers: In any case and order; several of one name are all looked at.
  ///   - body: Read by its shape. One that is too long or broken is passed over.
  ///   - canRenew: Whether the credential holds something to renew with.
  package func classify(
    status: Int?, headers: [(name: String, value: String)] = [], body: RawSpan,
    from endpoint: Endpoint, now: Timestamp, canRenew: Bool = true
  ) -> Classification? {
    guard let status else { return .noReply }
    let reply = ReplyBody(body)
    return classify(
      status: status, headers: headers, reply: reply, from: endpoint, now: now, canRenew: canRenew)
  }

  func classify(
    status: Int, headers: [(name: String, value: String)], reply: borrowing ReplyBody,
    from endpoint: Endpoint, now: Timestamp, canRenew: Bool
  ) -> Classification? {
    let fields = HeaderFields(headers)
    let reports = Report.all(in: reply, provider.errorBody)
    let succeeded = (200...299).contains(status)
    if succeeded {
      guard Report.isError(reply, provider.errorBody, reports, at: endpoint) else { return nil }
    }
    let renewable = canRenew && provider.renewal.method != .none
    let found =
      byBody(reports, status: status, fields, at: endpoint, now: now)
      ?? byTransientFlag(reply, status)
      ?? byIntrospection(reply, status, endpoint, renewable)
      ?? byChallenge(fields, status, endpoint, renewable, reports.first)
      ?? byStatus(status, fields, reply.shape, endpoint, renewable, reports.first)
    var result = found.classification
    let report = found.report ?? reports.first
    result.code = report?.code.map { ProviderText.safe($0, limit: 100) }
    result.subcode = report?.subcode.map { ProviderText.safe($0, limit: 100) }
    let shape = provider.errorBody
    let title = reply.text(shape.userTitle) ?? reply.text(shape.title, element: report?.element)
    let message =
      reply.text(shape.userMessage) ?? reply.text(shape.message, element: report?.element)
    result.title = title.map { ProviderText.safe($0) }
    result.message = message.map { ProviderText.safe($0) }
    if [.throttled, .transient, .pending].contains(result.errorClass) {
      result.retryAfter = fields.nextTry(
        provider.rateHeaders, usesResets: found.usesResetHeaders, result.errorClass, now: now)
    }
    return result
  }

  private struct Finding {
    var classification: Classification
    var report: Report?
    var usesResetHeaders = true
  }

  /// The gravest of what the body's codes mean, by the provider's rows and then by the standards.
  private func byBody(
    _ reports: [Report], status: Int, _ fields: HeaderFields, at endpoint: Endpoint, now: Timestamp
  ) -> Finding? {
    var gravest: Finding?
    for report in reports {
      let finding =
        byRow(report, status, fields, endpoint)
        ?? byStandard(report, status, fields, endpoint, now)
      guard let finding else { continue }
      if let present = gravest,
        present.classification.errorClass.gravity >= finding.classification.errorClass.gravity
      {
        continue
      }
      gravest = finding
    }
    return gravest
  }

  /// The row that asks for most; of equal ones the first.
  private func byRow(
    _ report: Report, _ status: Int, _ fields: HeaderFields, _ endpoint: Endpoint
  ) -> Finding? {
    var best: (index: Int, weight: Int)?
    for (index, row) in provider.errors.enumerated() where row.readsBody {
      guard let weight = weight(row, report, status, fields, endpoint), weight > best?.weight ?? 0
      else { continue }
      best = (index, weight)
    }
    return best.map { finding(row: $0.index, status, report) }
  }

  private func finding(row index: Int, _ status: Int, _ report: Report?) -> Finding {
    let row = provider.errors[index]
    var result = Classification(row.errorClass, status: status, rule: .row(index))
    result.mayRetry = row.mayRetry
    result.slower = row.slower
    result.advice = row.advice
    return Finding(
      classification: result, report: report, usesResetHeaders: row.usesResetHeaders)
  }

  /// Nil where the row does not match.
  private func weight(
    _ row: ErrorRow, _ report: Report?, _ status: Int, _ fields: HeaderFields, _ endpoint: Endpoint
  ) -> Int? {
    var weight = 1
    if let subcodes = row.subcodes {
      let part = subcodes.weight(report?.subcode)
      guard part > 0 else { return nil }
      weight += part * 100
    }
    if let description = row.description {
      guard report?.description == description else { return nil }
      weight += 50
    }
    if let part = row.descriptionPart {
      guard let description = report?.description, description.contains(part) else { return nil }
      weight += 40
    }
    if let codes = row.codes {
      let part = codes.weight(report?.code)
      guard part > 0 else { return nil }
      weight += part * 10
    }
    if let type = row.type {
      guard report?.type == type else { return nil }
      weight += 5
    }
    if let challenge = row.challenge {
      guard fields.challenges.contains(where: { $0.error == challenge }) else { return nil }
      weight += 5
    }
    if let header = row.header {
      guard fields.first(header) != nil else { return nil }
      weight += 5
    }
    if let place = row.place {
      guard endpoint.isCovered(by: place) else { return nil }
      weight += place == endpoint ? 3 : 2
    }
    if !row.statuses.isEmpty {
      guard row.statuses.contains(status) else { return nil }
      weight += 1
    }
    return weight
  }

  /// A standard error counts only where the status does not already say that the server is in trouble
  /// or that we must wait: a gateway's 503 may carry any body, and no grant may die of it.
  private func byStandard(
    _ report: Report, _ status: Int, _ fields: HeaderFields, _ endpoint: Endpoint, _ now: Timestamp
  ) -> Finding? {
    guard provider.protocol == .oauth2, ![408, 425, 429].contains(status), status < 500,
      let code = report.code
    else { return nil }
    if code == "invalid_dpop_proof" {
      // Our proof was made at `now`: a server whose clock is far from it refuses it for that.
      let off = fields.date(now: now).map { abs($0.seconds - now.seconds) > 30 } ?? false
      return Finding(
        classification: Classification(off ? .clock : .config, status: status, rule: .standard),
        report: report)
    }
    guard let meaning = StandardErrors.meaning(of: code, at: endpoint) else { return nil }
    var result = Classification(meaning.errorClass, status: status, rule: .standard)
    result.slower = meaning.slower
    return Finding(classification: result, report: report)
  }

  private func byTransientFlag(_ reply: borrowing ReplyBody, _ status: Int) -> Finding? {
    guard !provider.errorBody.transient.isEmpty,
      reply.text(provider.errorBody.transient) == "true"
    else { return nil }
    return Finding(classification: Classification(.transient, status: status, rule: .transientFlag))
  }

  /// A dead token that was looked up, without a word on why (RFC 7662 section 2.2).
  private func byIntrospection(
    _ reply: borrowing ReplyBody, _ status: Int, _ endpoint: Endpoint, _ renewable: Bool
  ) -> Finding? {
    guard Report.isDead(reply, at: endpoint) else { return nil }
    return Finding(
      classification: Classification(
        renewable ? .expired : .invalid, status: status, rule: .standard))
  }

  private func byChallenge(
    _ fields: HeaderFields, _ status: Int, _ endpoint: Endpoint, _ renewable: Bool,
    _ report: Report?
  ) -> Finding? {
    for (index, row) in provider.errors.enumerated() where !row.readsBody && row.challenge != nil {
      if weight(row, report, status, fields, endpoint) != nil {
        return finding(row: index, status, report)
      }
    }
    guard endpoint == .api, status < 500, status != 429 else { return nil }
    var result: ErrorClass?
    for challenge in fields.challenges where ["bearer", "dpop", "oauth"].contains(challenge.scheme)
    {
      switch challenge.error {
      case "invalid_token": result = renewable ? .expired : .invalid
      case "insufficient_scope": result = .permission
      case "insufficient_claims", "insufficient_user_authentication": result = .invalid
      case "use_dpop_nonce": result = .transient
      case "invalid_request": result = .config
      case nil where status == 401 && challenge.scheme != "oauth":
        // RFC 6750 section 3.1: no error means that the request carried no token that was read.
        result = result ?? .config
      default: break
      }
      if let result, result != .config { return challenged(result, status) }
    }
    return result.map { challenged($0, status) }
  }

  private func challenged(_ errorClass: ErrorClass, _ status: Int) -> Finding {
    Finding(classification: Classification(errorClass, status: status, rule: .challenge))
  }

  private func byStatus(
    _ status: Int, _ fields: HeaderFields, _ shape: ReplyBody.Shape, _ endpoint: Endpoint,
    _ renewable: Bool, _ report: Report?
  ) -> Finding {
    for (index, row) in provider.errors.enumerated() where row.readsStatusOnly {
      guard weight(row, report, status, fields, endpoint) != nil else { continue }
      // A limit is looked for before a missing permission.
      let isLimit = status == 403 && fields.showsRateLimit(provider.rateHeaders)
      if isLimit, row.errorClass == .permission { continue }
      return finding(row: index, status, report)
    }
    let errorClass: ErrorClass =
      switch status {
      case 429: .throttled
      case 408, 425, 500...: .transient
      case 300...399: .config
      case 403 where fields.showsRateLimit(provider.rateHeaders): .throttled
      // Something in front of the provider spoke, not the provider.
      case 403 where shape == .html: .transient
      case _ where endpoint.isOAuth: .config
      case 401: renewable ? .expired : .invalid
      case 403: .permission
      case ..<200: .transient
      default: .content
      }
    return Finding(classification: Classification(errorClass, status: status, rule: .status))
  }
}
