import HTTPTypes
public import JSON
public import Tokens
public import Wire

public struct ExchangeRecord: Sendable {
    /// What the journal must know of the vendor, or of all when none owns the path.
    @usableFromInline let traits: VendorTraits?
    public var route: String?
    public var failure: String?
    /// What was found that led to the failure, where the findings do not say it.
    public var reason: String?
    /// Finds the route that was meant; `nil` when the exchange matched one.
    public var guide: RouteGuide?
    /// Every check made, in the vendor's order, as recorded.
    public var checks: FindingList
    public var claims: JSONObject?
    public var intervention: String?
    /// Whether that had an effect, rather than only moving a scenario to another state.
    package var isStruck = false
    /// What was read of the request; `nil` unless a handler answered it.
    @usableFromInline var read: ReadParts?
    /// What was asked for in a part that was not read as a whole; `nil` for nothing.
    @usableFromInline package var reading: KeptReading?
    /// What the vendor deliberately changed in its own answer.
    public var ownInterventions: [JSON]
    /// Whether the path may be a typo for one of the vendor's routes; where the vendor is known to offer more there
    /// than is emulated, suggesting a neighbour would mislead.
    public var mayBeMistyped = true
    public var parts: ExchangeParts?
    /// The traffic of the socket that the exchange opened; `nil` when it opened none.
    public internal(set) var socket: SocketLog?
    /// Links the exchange to the sockets it notified; `nil` when there were none.
    @usableFromInline var cause: FrameCause?

    @inlinable
    package init(
        _ traits: VendorTraits? = nil, route: String? = nil, checks: FindingList = FindingList(),
        claims: JSONObject? = nil, read: ReadParts? = nil, reading: KeptReading? = nil, parts: ExchangeParts? = nil,
        ownInterventions: [JSON] = [], cause: FrameCause? = nil
    ) {
        (self.traits, self.route, self.checks, self.claims) = (traits, route, checks, claims)
        (self.read, self.reading, self.parts) = (read, reading, parts)
        (self.ownInterventions, self.cause) = (ownInterventions, cause)
    }

    package var vendor: String? { traits?.identity?.id }

    /// Whether the answer is not the one that the vendor's rules alone would give.
    public var isIntervened: Bool { intervention != nil || !ownInterventions.isEmpty }
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
            (self.sandbox, self.moment, self.request) = (sandbox, moment, request)
            // The upgrade references the sandbox, and thereby the journal that holds this entry.
            self.response = response.withoutUpgrade
            self.omitsBodies = omitsBodies
            // Reserved room for findings counts as well as their size. The target is counted again in the head.
            var size =
                1024 + request.fields.byteCount + 2 * request.target.utf8.count + request.body.count
                + response.body.count + record.checks.byteCount
            if record.socket != nil { size += SocketLog.byteLimit }
            if let parts = record.parts { size += parts.byteCount }
            if let reading = record.reading { size += reading.current.byteCount }
            // A vendor's own fields are few and short; those of a rule may be anything.
            if record.isIntervened { size += response.fields.reduce(0) { $0 + $1.value.utf8.count } }
            for intervention in record.ownInterventions { size += intervention.bytes.count }
            self.size = size
            self.record = record
        }
    }

    /// The entry's number in its sandbox, counted from 1.
    public package(set) var id = 0
    private var content: Content

    public init(
        sandbox: String, moment: Moment, request: Request, response: Response, record: consuming ExchangeRecord
    ) {
        content = Content(sandbox: sandbox, moment: moment, request: request, response: response, record: record)
    }

    package var sandbox: String { content.sandbox }
    package var moment: Moment { content.moment }
    /// The request, its target without the sandbox's prefix.
    package var request: Request { content.request }
    /// The response, without its upgrade.
    package var response: Response { content.response }
    package var record: ExchangeRecord { content.record }
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
        ownExplanation.map { explanation in contentForm?.note.map { "\(explanation); \($0)" } ?? explanation }
    }

    private var ownExplanation: String? {
        if let reason = record.reason {
            guard let meant = meantRoute else { return reason }
            let surplus = record.guide?.surplus(in: request.path).map { ": it has \($0)" } ?? ""
            return "\(reason)\(surplus); the nearest route is \(meant.text)"
        }
        guard record.failure != nil else { return nil }
        return record.checks.firstFailed?.description
    }

    func matchContext(_ budget: WorkBudget) -> MatchContext {
        MatchContext(request: request, claims: record.claims, moment: moment, reason: explanation, budget: budget)
    }

    /// The route that the client probably meant when its path matched none; `nil` when none comes close.
    var meantRoute: RouteTable.Neighbour? {
        guard record.route == nil else { return nil }
        return record.guide?.closest(to: request.method, request.path, of: record.vendor)
    }

    /// Whether the exchange matched that route, or was meant to.
    func isMeant(for route: String) -> Bool { record.route == route || meantRoute?.route == route }

    /// The closest routes; `nil` when the request matched one.
    package func nearestRoutes(in routes: RouteTable) -> [String]? {
        guard record.route == nil else { return nil }
        return record.mayBeMistyped ? routes.guide.nearest(to: request.method, request.path, of: record.vendor) : []
    }

    /// Every check made, in the vendor's order, and remarks on how the call arrived.
    ///
    /// The remarks follow from the entry, so they are computed when it is read.
    package var findings: [Finding] { record.findings + remarks }
    private var remarks: [Finding] { [slashes, clock, contentForm, unread].compactMap(\.self) }

    /// The remark on an accepted call, in one line; `nil` for none, and for a refused call, which has its reason.
    var note: String? {
        guard record.failure == nil else { return nil }
        let noted = record.checks.noted + remarks
        return noted.isEmpty ? nil : noted.map(\.remark).joined(separator: "; ")
    }

    /// A path that matched its route only because extra slashes are ignored.
    private var slashes: Finding? {
        guard record.route != nil else { return nil }
        let path = request.path
        let isDoubled = path.utf8.contains("//".utf8)
        guard isDoubled || path.utf8.count > 1 && path.utf8.last == UInt8(ascii: "/") else { return nil }
        let plain = "/" + path.split(separator: "/").joined(separator: "/")
        guard plain != path else { return nil }
        return Finding(
            isDoubled ? "double-slash" : "trailing-slash", .noted, expected: .text(plain), found: .text(String(path)),
            note: isDoubled
                ? "It is accepted here; the base address probably ends in a slash."
                : "It is accepted here without the slash too.",
            source: "ours")
    }

    private var clock: Finding? {
        guard moment >= Moment.representable.upperBound else { return nil }
        return Finding(
            "clock", .noted, expected: .timeUpTo(Moment.representable.upperBound.unixSeconds),
            found: .time(moment.unixSeconds), note: SandboxClock.runOutNote, source: "ours")
    }
}

/// One of several items in a request, refused although the request as a whole was answered.
public struct ExchangePart: Sendable {
    /// How many are kept per exchange; the rest are counted.
    static let most = 100
    /// An estimate of the memory that one takes besides its findings, in bytes.
    static let cost = 256

    /// The item's number, counted from 1.
    public let number: Int
    /// What the item asks for, in the vendor's terms.
    public let name: String
    public let failure: String
    public let reason: String?
    public let findings: [Finding]

    public init(_ number: Int, named name: String, _ failure: String, because reason: String?, _ findings: [Finding]) {
        (self.number, self.name, self.failure) = (number, name, failure)
        self.reason = reason ?? findings.first { $0.outcome == .failed }?.description
        self.findings = findings
    }

    var json: JSON {
        [
            "number": JSON(number), "name": .string(name), "failure": .string(failure), "reason": JSON(reason),
            "findings": .array(findings.map(\.json)),
        ]
    }
}

/// The first refused items of a request, and their total.
public struct ExchangeParts: Sendable {
    public private(set) var refused: [ExchangePart] = []
    public private(set) var count = 0

    public init() {}

    mutating func append(_ part: ExchangePart) {
        count += 1
        if refused.count < ExchangePart.most { refused.append(part) }
    }

    /// An estimate of the memory that they take, in bytes.
    var byteCount: Int {
        refused.reduce(0) { $0 + ExchangePart.cost + $1.findings.count * MemoryLayout<Finding>.stride }
    }

    var json: JSON { ["refused": JSON(count), "first": .array(refused.map(\.json))] }
}

/// Interventions in one line, as lists, logs and terminals show them.
package enum InterventionText {
    /// The line for the member `intervention` of an entry: a text, or a list of texts and objects; `nil` for nothing.
    package static func line(_ intervention: JSON?) -> String? {
        guard let intervention else { return nil }
        let lines = (intervention.array ?? [intervention]).compactMap(text)
        return lines.isEmpty ? nil : lines.joined(separator: "; ")
    }

    /// Whether that reason is of a refusal by a fault or scenario, whose words it then begins with.
    package static func made(_ intervention: JSON, _ reason: String) -> Bool {
        let text = (intervention.array ?? [intervention]).lazy.compactMap(\.string).first
        return text.map { reason.hasPrefix($0.prefix { $0 != ";" }) } == true
    }

    /// A string as it is; of an object the scalar members, such as “set claims nonce, of id”.
    private static func text(_ value: JSON) -> String? {
        guard let members = value.object else { return value.string }
        let words = members.compactMap { member -> String? in
            guard member.value.array == nil, member.value.object == nil else { return nil }
            return "\(member.name.replacing("_", with: " ")) \(member.value.string ?? member.value.text)"
        }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}

/// Content in a form that hides it from its reader: compressed, in another encoding, or of another type than declared.
///
/// One rule for all vendors (ours). It follows from the entry, so no answer depends on it.
extension JournalEntry {
    var contentForm: Finding? {
        guard record.route != nil, !request.body.isEmpty else { return nil }
        let type = request.fields[.contentType]?.prefix { $0 != ";" && $0 != " " }.lowercased() ?? ""
        // Uploads may hold any bytes.
        let isText = type.isEmpty || type.hasSuffix("json") || type.hasPrefix("text/") || type == Self.form
        let note = strangeCoding ?? (isText ? strangeEncoding ?? strangeType(type) : nil)
        return note.map { Finding("content-form", .noted, note: $0, source: "ours") }
    }

    private static let form = "application/x-www-form-urlencoded"

    private var strangeCoding: String? {
        guard let coding = request.fields[.contentEncoding], !["", "identity"].contains(coding.lowercased()) else {
            return nil
        }
        return String(validating: request.body, as: UTF8.self) == nil
            ? "the content is compressed (Content-Encoding: \(coding.shown)); expected it uncompressed"
            : "Content-Encoding is \(coding.shown), but the content is not compressed; expected no such field"
    }

    private var strangeEncoding: String? {
        let body = request.body
        if body.starts(with: [0x1F, 0x8B]) {
            return "the content is compressed with gzip, and no Content-Encoding says so; expected it uncompressed"
        }
        if TextEncoding.looksLikeUTF16(body) { return "the content is UTF-16; expected UTF-8" }
        if body.starts(with: TextEncoding.mark) { return "the content begins with a byte order mark; expected none" }
        guard String(validating: body, as: UTF8.self) == nil else { return nil }
        let place = TextEncoding.wholeCharacters(body)
        let byte = TextEncoding.hexadecimal(body[place])
        return "byte \(place + 1) of the content, \(byte), is not UTF-8, but may be Latin-1; expected UTF-8"
    }

    /// Only of a refused call: many clients send JSON without saying so, and are understood.
    private func strangeType(_ type: String) -> String? {
        guard record.failure != nil else { return nil }
        let text = String(decoding: request.body, as: UTF8.self)
        if type == Self.form {
            let isJSON = record.traits?.identity?.readsForms == true && (text.hasPrefix("{") || text.hasPrefix("["))
            return isJSON ? "the content is JSON, sent as \(type)" : nil
        }
        guard text.wholeMatch(of: /[\w.~%+-]+=[^\s{}"]*/) != nil else { return nil }
        return "the content looks like a form, sent as \(type.isEmpty ? "no type" : type)"
    }
}
