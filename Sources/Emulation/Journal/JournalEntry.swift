public import JSON
public import Tokens
public import Wire

/// The outcome of an exchange, and the reasons.
public struct ExchangeRecord: Sendable {
    /// The vendor's id; `nil` when no vendor owns the path.
    public var vendor: String?
    /// The route's id; `nil` when the vendor has nothing at the path.
    public var route: String?
    /// The failure's name; `nil` when the exchange succeeded.
    public var failure: String?
    /// What was found that led to the failure, where the findings do not say it.
    public var reason: String?
    /// Finds the route that was meant; `nil` when the exchange matched one.
    public var guide: RouteGuide?
    /// Every check made, in the vendor's order, as recorded.
    public var checks = FindingList()
    /// The claims of the presented token, trusted or not.
    public var claims: JSONObject?
    /// The fault or scenario that influenced the answer.
    public var intervention: String?
    /// What the vendor did to its own answer on purpose.
    public var ownInterventions: [JSON] = []
    /// Whether the path may be a typo for one of the vendor's routes; where the vendor is known to offer more there
    /// than is emulated, suggesting a neighbour would mislead.
    public var mayBeMistyped = true
    /// Body members that are masked when the entry is read.
    public var secrets: Set<String> = []
    /// The orders of the request that were refused individually.
    public var parts: ExchangeParts?
    /// The traffic of the socket that the exchange opened; `nil` when it opened none.
    public internal(set) var socket: SocketLog?
    /// Links the exchange to the sockets it notified; `nil` when there were none.
    @usableFromInline var cause: FrameCause?

    /// Creates an empty record.
    public init() {}

    /// Whether the answer is not the one that the vendor's rules alone would give.
    public var isIntervened: Bool { intervention != nil || !ownInterventions.isEmpty }

    /// Every check made, in the vendor's order.
    public var findings: [Finding] { checks.all }
}

/// One exchange in a sandbox's journal.
///
/// The entry holds the raw exchange; JSON is rendered and secrets are masked on reading.
public struct JournalEntry: Sendable {
    /// Everything but the number, shared by a journal's copies.
    private final class Content: Sendable {
        let sandbox: String
        let moment: Moment
        let request: Request
        let response: Response
        let record: ExchangeRecord
        let omitsBodies: Bool
        let size: Int

        init(
            sandbox: String, moment: Moment, request: Request, response: Response, record: consuming ExchangeRecord,
            omitsBodies: Bool = false
        ) {
            self.sandbox = sandbox
            self.moment = moment
            self.request = request
            // The upgrade references the sandbox, and thereby the journal that holds this entry.
            self.response = response.withoutUpgrade
            self.omitsBodies = omitsBodies
            // Reserved room for findings counts as well as their size. The target is counted again in the head.
            var size =
                1024 + request.fields.byteCount + 2 * request.target.utf8.count + request.body.count
                + response.body.count + record.checks.byteCount
            if record.socket != nil { size += SocketLog.byteLimit }
            if let parts = record.parts { size += parts.byteCount }
            // A vendor's own fields are few and short; those of a rule may be anything.
            if record.isIntervened { size += response.fields.reduce(0) { $0 + $1.value.utf8.count } }
            for intervention in record.ownInterventions { size += intervention.bytes.count }
            self.size = size
            self.record = record
        }
    }

    /// The entry's number in its sandbox, counted from 1.
    public internal(set) var id = 0
    private var content: Content

    public init(
        sandbox: String, moment: Moment, request: Request, response: Response, record: consuming ExchangeRecord
    ) {
        content = Content(sandbox: sandbox, moment: moment, request: request, response: response, record: record)
    }

    package var sandbox: String { content.sandbox }
    /// The moment of the exchange by the sandbox's clock.
    package var moment: Moment { content.moment }
    /// The request, its target without the sandbox's prefix.
    package var request: Request { content.request }
    /// The response, without its upgrade.
    package var response: Response { content.response }
    package var record: ExchangeRecord { content.record }
    /// Whether bodies were too long to be kept.
    package var omitsBodies: Bool { content.omitsBodies }
    /// An estimate of the memory that the entry keeps, in bytes.
    var size: Int { content.size }

    /// Drops the bodies, so that one long upload does not push everything else out of the journal.
    mutating func omitBodies() {
        var (request, response) = (request, response)
        request.body = []
        response.body = []
        content = Content(
            sandbox: sandbox, moment: moment, request: request, response: response, record: record, omitsBodies: true)
    }

    /// Why the exchange was refused, in one line; `nil` when it was not.
    package var explanation: String? {
        if let reason = record.reason {
            return meantRoute.map { "\(reason); the nearest route is \($0.text)" } ?? reason
        }
        guard record.failure != nil else { return nil }
        return record.checks.firstFailed?.description
    }
}
