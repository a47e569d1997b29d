import Emulation
import JSON

/// A message in a customer's app inbox.
struct InboxMessage: Sendable, Hashable {
    let id: String
    /// `push` or `html`; the SDKs drop every other.
    let type: String
    /// `nil` for a message that fits every application.
    let applicationID: String?
    let createTime: ContentTime
    var expireTime: ContentTime
    let content: JSON
    var isRead: Bool
    /// The change of the inbox that touched the message last.
    var stamp: Int
    /// What the message counts towards the limits of a sandbox, in bytes of text.
    let byteCount: Int

    /// The message as answered in a sandbox that began at that moment. Source: observed, both SDKs.
    func json(since start: Moment) -> JSON {
        .object(members(.number(createTime.number(since: start)), .number(expireTime.number(since: start))))
    }

    private func members(_ created: JSON, _ expires: JSON) -> JSONObject {
        [
            "id": .string(id), "type": .string(type), "is_read": .bool(isRead), "create_time": created,
            "expire_time": expires, "content": content,
        ]
    }

    /// The message as it stands in a fixture, with what only the server knows.
    var record: JSON {
        var record = members(createTime.json, expireTime.json)
        if let applicationID { record.append("application_id", .string(applicationID)) }
        record.append("stamp", JSON(stamp))
        return .object(record)
    }

    /// Whether clients of that application see the message at that moment, in a sandbox that began at another one.
    func isListed(for application: String, at moment: Moment, since start: Moment) -> Bool {
        (applicationID ?? application).hasSameBytes(as: application)
            && expireTime.number(since: start).double > moment.unixSeconds
    }

    /// Whether both say the same, whoever has read or changed them.
    func hasSameContent(as other: InboxMessage) -> Bool {
        var other = other
        (other.isRead, other.stamp) = (isRead, stamp)
        return self == other
    }
}

/// Where a message is read from; it decides what may be left out.
enum InboxMessageSource {
    /// A fixture, in which times stand.
    case fixture
    /// The order of an action: times that are left out, or counted from somewhere, follow from that moment.
    case order(Moment)
    /// An export, which has all that ``InboxMessage/record`` has.
    case export

    /// How long a message that says nothing else can be read (ours): 30 days.
    static let usualLifeInSeconds = 2_592_000.0
}

extension InboxMessage {
    /// Reads a message with all rules, whether it stands in a fixture, an order or an export.
    init(_ node: FixtureNode, from source: InboxMessageSource) throws(FixtureProblem) {
        let entry = try node.mapping(
            ["id", "type", "application_id", "is_read", "create_time", "expire_time", "content"] + source.ownMembers)
        try Self.shape.check(node)
        id = try entry.required("id").string()
        type = try entry.required("type").string()
        applicationID = try entry["application_id"]?.string()
        isRead = try entry["is_read"]?.bool() ?? false
        createTime = try Self.time("create_time", of: entry, from: source, later: 0)
        expireTime = try Self.time("expire_time", of: entry, from: source, later: InboxMessageSource.usualLifeInSeconds)
        content = try entry.required("content").verbatim()
        stamp = try entry["stamp"]?.count() ?? 0
        byteCount = content.bytes.count + id.utf8.count + (applicationID?.utf8.count ?? 0) + 64
        if case .export = source { _ = try entry.required("stamp") }
        try (type == "html" ? Self.htmlContent : Self.pushContent).check(try entry.required("content"))
        guard byteCount <= Inbox.messageByteLimit else {
            throw node.problem("the message has \(byteCount) bytes; expected at most \(Inbox.messageByteLimit)")
        }
    }

    private static let shape = ContentShape.open([
        .required("id", .name), .required("type", .word(["push", "html"])), .optional("application_id", .name),
        .optional("is_read", .bool), .optional("create_time", .time), .optional("expire_time", .time),
        .required("content", .open([])),
    ])

    /// Members that are named nowhere are passed on, since campaigns of the vendor have more than these.
    private static let everyContent: [ContentField] =
        ContentField.optional(["title", "image", "source"], .optional(.text)) + [
            .nullable("attributes", .open([])), .nullable("url_params", .open([])),
            .nullable("has_tracking_consent", .bool), .nullable("consent_category_tracking", .text),
            .nullable("silent", .bool),
        ]

    private static let pushAction = ContentShape.optional(.word(["app", "browser", "deeplink"]))

    private static let pushContent = ContentShape.open(
        everyContent + [
            .nullable("message", .text), .optional("action", pushAction), .nullable("url", .text),
            .nullable(
                "actions",
                .list(of: .open([.optional("action", pushAction), .nullable("title", .text), .nullable("url", .text)]))),
        ])

    /// A message without its HTML could not be shown (ours).
    private static let htmlContent = ContentShape.open(
        everyContent + [.required("message", .text), .nullable("pre_header", .text)])

    private static func time(
        _ name: String, of entry: FixtureMapping, from source: InboxMessageSource, later: Double
    ) throws(FixtureProblem) -> ContentTime {
        guard case .order(let moment) = source else { return try ContentTime(try entry.required(name)) }
        guard let node = entry[name] else { return .at(JSONNumber(moment.unixSeconds + later)) }
        return .at(try ContentTime(node).number(since: moment))
    }
}

extension InboxMessageSource {
    fileprivate var ownMembers: [String] {
        switch self {
        case .fixture, .order: []
        case .export: ["stamp"]
        }
    }
}

extension FixtureNode {
    /// The whole number here, which counts something.
    func count() throws(FixtureProblem) -> Int {
        try int(in: 0...Inbox.mostChanges)
    }
}
