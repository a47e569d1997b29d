import Emulation
import JSON
import Tokens

/// Every failure of Bloomreach; `failures.yaml` defines the responses, in three error shapes by API family.
enum BloomreachFailure: String, RouteFailure {
    case routeNotFound = "unknown-route"
    case methodNotAllowed = "method-not-allowed"
    case compressedBody = "compressed-body"
    case badRequestBody = "bad-request-body"
    case bodyTooLarge = "body-too-large"
    case invalidProjectID = "invalid-project-id"
    case unknownProject = "unknown-project"
    case missingAuthorization = "missing-authorization"
    case malformedAuthorization = "malformed-authorization"
    case credentialNotAccepted = "credential-not-accepted"
    case customerTokenRequired = "customer-token-required"
    case unknownKey = "unknown-key"
    case wrongSecret = "wrong-secret"
    case noPermission = "no-permission"
    case customerTokenMalformed = "customer-token-malformed"
    case customerTokenWrongAlgorithm = "customer-token-wrong-algorithm"
    case customerTokenUnknownKey = "customer-token-unknown-key"
    case customerTokenBadSignature = "customer-token-bad-signature"
    case customerTokenMissingExpiry = "customer-token-missing-expiry"
    case customerTokenExpired = "customer-token-expired"
    case customerTokenNotYetValid = "customer-token-not-yet-valid"
    case customerTokenBadSubject = "customer-token-bad-subject"
    case customerTokenIDsMismatch = "customer-token-ids-mismatch"
    case streamTokenMissing = "stream-token-missing"
    case streamTokenMalformed = "stream-token-malformed"
    case streamTokenWrongAlgorithm = "stream-token-wrong-algorithm"
    case streamTokenUnknownKey = "stream-token-unknown-key"
    case streamTokenBadSignature = "stream-token-bad-signature"
    case streamTokenMissingExpiry = "stream-token-missing-expiry"
    case streamTokenExpired = "stream-token-expired"
    case streamTokenNotYetValid = "stream-token-not-yet-valid"
    case streamTokenEmptyIDs = "stream-token-empty-ids"
    case streamTokenIDsMismatch = "stream-token-ids-mismatch"
    case streamTokenWrongStream = "stream-token-wrong-stream"
    case streamSignatureRequired = "stream-signature-required"
    case streamPermissionDenied = "stream-permission-denied"
    case streamEmptyUpdate = "stream-empty-update"
    case noCustomerIDs = "no-customer-ids"
    case missingEventType = "missing-event-type"
    case missingField = "missing-field"
    case invalidField = "invalid-field"
    case unknownIDName = "unknown-id-name"
    case customerIDsConflict = "customer-ids-conflict"
    case attributeInvalidType = "attribute-invalid-type"
    case attributeUnknownID = "attribute-unknown-id"
    case customerNotFound = "customer-not-found"
    case unknownEngine = "unknown-engine"
    case recommendationFailed = "recommendation-failed"
    case batchInvalidJSON = "batch-invalid-json"
    case batchNoCommands = "batch-no-commands"
    case syncTokenStale = "sync-token-stale"
    case syncTokenUnknown = "sync-token-unknown"
    case messageNotFound = "message-not-found"
    case mintUnknownKey = "mint-unknown-key"
    case mintBadSubject = "mint-bad-subject"
    case rateLimited = "rate-limited"
    case serverError = "server-error"
    case serviceUnavailable = "service-unavailable"
}

extension Bloomreach: FieldDialect {
    static let fieldPolicy = FieldPolicy(nullIsAbsent: true)

    /// Reports only the first problem; if a member has its own rule, that rule gives the whole reason.
    static func refusal(of problems: [FieldProblem]) -> Refused {
        let problem = problems[0]
        let name = problem.path
        if let reason = problem.reason() { return Refused(.badRequestBody, because: reason) }
        let found = "\(name) is \(problem.found?.text.prefix(100) ?? "")"
        switch problem.kind {
        case .missing:
            let found = problem.found == nil ? "there is no \(name)" : found
            return Refused(.missingField, ["field": .string(name)], because: "\(found); expected \(problem.expected)")
        case .wrongType where problem.list != nil:
            return .invalidField(problem.list ?? "", because: "\(name) \(problem.typeMismatch)")
        case .noTime:
            if let remark = NumericDate(problem.found).millisecondsRemark(on: name) {
                return .invalidField(name, because: "\(found); expected seconds. \(remark)")
            }
        case .other(let reason): return .invalidField(name, because: reason)
        default: break
        }
        return .invalidField(name, because: "\(found), not \(problem.expected)")
    }
}

extension Refusal<BloomreachFailure> {
    static func invalidField(_ name: String, because reason: String) -> Refusal {
        Refusal(.invalidField, ["field": .string(name)], because: reason)
    }
}

extension FieldReader {
    /// A moment in seconds: a number, or a date and time as text; the current time if absent or null.
    ///
    /// Source: text in ISO 8601 is documented (reference page on adding events).
    mutating func timestamp(at moment: Moment) -> Double {
        let form = "a number of seconds or date and time such as 2027-01-15T08:00:00Z"
        let given = value("timestamp", .noTime, expecting: form) { value in
            value.number == nil ? value.string.flatMap(Moment.init(bloomreach:)) : Moment(value)
        }
        return (given ?? moment).unixSeconds
    }

    /// The type of an event; `nil` if absent, null or empty.
    mutating func eventType() -> String? {
        let name = "event_type"
        guard let type = optionalText(name), !type.isEmpty else { return nil }
        if type.utf8.count > BloomreachEvent.longestType {
            refuse(name, "\(name) has \(type.utf8.count) bytes; expected at most \(BloomreachEvent.longestType)")
        }
        return type
    }
}

extension Call<Bloomreach> {
    /// The project whose data the call uses; authentication rejects a call without one.
    func project() throws(Refused) -> BloomreachProject {
        guard let project = credentials.project else { throw Refused(.unknownProject) }
        return project
    }

    /// The body of a call about one customer, with the ids that name the customer.
    func customerBody(isRequired: Bool = true) throws(Refused) -> (body: Fields<Bloomreach>, ids: BloomreachIDs) {
        let body = try body().passing("customer_ids", as: "object")
        return (body, try customerIDs(of: body, isRequired: isRequired))
    }

    /// What `read` makes of the body of a call about one customer, and the ids that the sender may speak for.
    mutating func ofCustomer<Value>(
        _ read: (inout FieldReader) -> Value
    ) throws(Refused) -> (owner: BloomreachIDs, Value) {
        let (body, ids) = try customerBody()
        let value = try body.read(read)
        return (try bind(ids), value)
    }

    /// The ids in a body that name its customer, without nulls and empty texts.
    ///
    /// - Parameter isRequired: whether the body must name a customer, unless a token does.
    /// - Throws: ``BloomreachFailure/invalidField``, ``BloomreachFailure/unknownIDName`` with switch `unknown-ids`, and
    ///   ``BloomreachFailure/noCustomerIDs``.
    func customerIDs(of body: Fields<Bloomreach>, isRequired: Bool = true) throws(Refused) -> BloomreachIDs {
        var ids = BloomreachIDs()
        if let value = body.object.present("customer_ids") { ids = try self.ids(value, of: "customer_ids") }
        if ids.isEmpty, isRequired, credentials.token == nil {
            let found = body.object["customer_ids"].map {
                "customer_ids is \($0.text.prefix(100)), which names no customer"
            }
            throw Refused(
                .noCustomerIDs,
                because: "\(found ?? "there is no customer_ids"); expected at least one id with its value")
        }
        return ids
    }

    func ids(_ value: JSON, of field: String) throws(Refused) -> BloomreachIDs {
        let ids: BloomreachIDs
        do { ids = try BloomreachIDs(value) } catch {
            throw .invalidField(field, because: "\(field): \(error.text)")
        }
        if switches.unknownIDs == .reject {
            let project = try project()
            if let name = ids.names.first(where: { !project.definesID($0) }) {
                throw Refused(
                    .unknownIDName, ["field": .string(field)],
                    because: "\(project.token) defines no id \(name.shown)",
                    known: [BloomreachID.cookie, BloomreachID.registered] + project.idNames)
            }
        }
        return ids
    }
}

extension Moment {
    /// Reads a date and time: ISO 8601 in its extended form, or the looser forms that the vendor shows, such as
    /// `2018-8-5 12:20:25`. A time may omit its seconds or have fractional ones; a date without a time is midnight;
    /// without an offset, the time is UTC.
    ///
    /// Source: ISO 8601 timestamps are documented (reference page on adding events), and so are the looser forms (page
    /// on data types, for attributes, which also says that offsets do not work there). That timestamps accept both, and
    /// reject the basic form of ISO 8601 and its weeks, is ours.
    init?(bloomreach text: String) {
        let date = /([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})/
        let time = /[Tt ]([0-9]{2}:[0-9]{2})(:[0-9]{2}(?:\.[0-9]+)?)?([Zz]|[+-][0-9]{2}:[0-9]{2})?/
        guard let day = text.prefixMatch(of: date) else { return nil }
        func padded(_ digits: Substring) -> String { digits.utf8.count == 1 ? "0\(digits)" : String(digits) }
        let written = "\(day.1)-\(padded(day.2))-\(padded(day.3))"
        let rest = text[day.range.upperBound...]
        if rest.isEmpty {
            self.init(text: "\(written)T00:00:00Z")
        } else if let parts = rest.wholeMatch(of: time) {
            self.init(text: "\(written)T\(parts.1)\(parts.2 ?? ":00")\(parts.3?.uppercased() ?? "Z")")
        } else {
            return nil
        }
    }
}
