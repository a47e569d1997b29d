public import JSON
public import Tokens
public import Wire

/// What became of an exchange, and why.
public struct ExchangeRecord: Sendable {
    /// The vendor's id; `nil` when no vendor owns the path.
    public var vendor: String?
    /// The route's id; `nil` when the vendor has nothing at the path.
    public var route: String?
    /// The failure's name; `nil` when the exchange succeeded.
    public var failure: String?
    /// What was found that led to the failure, where the findings do not say it.
    public var reason: String?
    /// Who knows the route that was meant; `nil` where the exchange found one.
    public var guide: RouteGuide?
    /// Every check that was made, in the vendor's order, as it was recorded.
    public var checks = FindingList()
    /// What the presented token says of itself, trusted or not.
    public var claims: JSONObject?
    /// The fault or scenario that had a say in the answer.
    public var intervention: String?
    /// Body members that are masked when somebody reads the entry.
    public var secrets: Set<String> = []
    /// The orders of the request that were refused each by itself.
    public var parts: ExchangeParts?
    /// What passes through the socket that the exchange opened; `nil` when it opened none.
    public internal(set) var socket: SocketLog?

    /// A record of nothing yet.
    public init() {}

    /// Every check that was made, in the vendor's order.
    public var findings: [Finding] { checks.all }
}

/// One exchange in a sandbox's journal.
///
/// The entry holds what passed, unrendered; JSON is made, and secrets are masked, when somebody reads it.
public struct JournalEntry: Sendable {
    /// Everything but the number, shared by the copies that a journal makes.
    private final class Content: Sendable {
        let sandbox: String
        let moment: Moment
        let request: Request
        let response: Response
        let record: ExchangeRecord
        let omitsBodies: Bool
        let size: Int

        init(
            sandbox: String, moment: Moment, request: Request, response: Response, record: ExchangeRecord,
            omitsBodies: Bool = false
        ) {
            self.sandbox = sandbox
            self.moment = moment
            self.request = request
            self.response = response
            self.record = record
            self.omitsBodies = omitsBodies
            // The room that findings could take counts as well as what they do. The target stands in the head once more.
            size =
                1024 + request.fields.byteCount + 2 * request.target.utf8.count + request.body.count
                + response.body.count + record.checks.byteCount
                // A vendor's own fields are few and short; what a rule gives may be anything.
                + (record.socket == nil ? 0 : SocketLog.byteLimit) + (record.parts?.byteCount ?? 0)
                + (record.intervention == nil ? 0 : response.fields.reduce(0) { $0 + $1.value.utf8.count })
        }
    }

    /// The entry's number in its sandbox, counted from 1.
    public internal(set) var id = 0
    private var content: Content

    /// An entry for an exchange.
    public init(sandbox: String, moment: Moment, request: Request, response: Response, record: ExchangeRecord) {
        content = Content(sandbox: sandbox, moment: moment, request: request, response: response, record: record)
    }

    /// The sandbox's name.
    public var sandbox: String { content.sandbox }
    /// The moment of the exchange by the sandbox's clock.
    public var moment: Moment { content.moment }
    /// The request, its target without the sandbox's prefix.
    public var request: Request { content.request }
    /// The response.
    public var response: Response { content.response }
    /// What became of it.
    public var record: ExchangeRecord { content.record }
    /// Whether bodies were too long to be kept.
    public var omitsBodies: Bool { content.omitsBodies }
    /// An estimate of the memory that the entry keeps, in bytes.
    var size: Int { content.size }

    /// Forgets the bodies, so that one long upload does not push everything else out of the journal.
    mutating func omitBodies() {
        var (request, response) = (request, response)
        request.body = []
        response.body = []
        content = Content(
            sandbox: sandbox, moment: moment, request: request, response: response, record: record, omitsBodies: true)
    }

    /// Why the exchange was refused, in one line; `nil` when it was not.
    public var explanation: String? {
        if let reason = record.reason { return meantRoute.map { "\(reason); the nearest route is \($0.text)" } ?? reason }
        guard record.failure != nil else { return nil }
        return record.findings.first { $0.outcome == .failed }?.description
    }
}

extension JournalEntry {
    /// The entry as JSON, secrets masked.
    ///
    /// - Parameter routes: the table that names the nearest routes of a request that found none.
    public func json(routes: RouteTable) -> JSON {
        var entry: JSONObject = [
            "id": JSON(id), "sandbox": .string(sandbox), "at": .string(moment.rfc3339),
            "vendor": JSON(record.vendor), "route": JSON(record.route),
            "status": JSON(response.status.code), "failure": JSON(record.failure), "reason": JSON(explanation),
        ]
        if let intervention = record.intervention { entry["intervention"] = .string(intervention) }
        entry["nearest_routes"] = nearestRoutes(in: routes).map { .array($0.map(JSON.string)) }
        entry["findings"] = .array(findings.map(\.json))
        entry["request"] = .object(requestJSON)
        let response = JSON.object(responseJSON)
        entry["response"] =
            record.intervention == nil ? response : Echoes(of: request, secrets: record.secrets).hidden(in: response)
        entry["parts"] = record.parts?.json
        entry["socket"] = record.socket?.json(body)
        return .object(entry)
    }

    private var requestJSON: JSONObject {
        [
            "method": .string(request.method.rawValue), "target": .string(Mask.target(request.target)),
            "headers": fields(request.fields.map { ($0.name, $0.value) }), "body": body(request.body),
        ]
    }

    private var responseJSON: JSONObject {
        [
            "status": JSON(response.status.code),
            "headers": fields(response.fields.map { ($0.name.rawName, $0.value) }), "body": body(response.body),
        ]
    }

    private func fields(_ fields: [(String, String)]) -> JSON {
        .array(fields.map { .array([.string($0.0), .string(Mask.field($0.0, $0.1, hiding: record.secrets))]) })
    }

    /// JSON bodies as JSON, texts as strings, other bytes as their number.
    private func body(_ bytes: [UInt8]) -> JSON {
        if omitsBodies { return "(too long to be kept)" }
        if bytes.isEmpty { return .null }
        if let value = try? JSON.parse(bytes) { return Mask.members(record.secrets, of: value) }
        // What cannot be read as JSON cannot be masked member by member either.
        guard record.secrets.isEmpty, let text = String(validating: bytes, as: UTF8.self) else {
            return "(\(bytes.count) bytes)"
        }
        return .string(text)
    }
}
