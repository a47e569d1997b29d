import Emulation
import JSON

/// A message in a customer's app inbox.
struct InboxMessage: Sendable, Hashable {
    let id: String
    /// `push` or `html`; the SDKs drop any other type.
    let type: String
    /// `nil` for a message that fits every application.
    let applicationID: String?
    let createTime: ContentTime
    var expireTime: ContentTime
    let content: JSON
    var isRead: Bool
    /// The number of the change that last touched the message.
    var stamp: Int
    /// The size of the message for the limits of a sandbox, in bytes of text.
    let byteCount: Int

    /// The message as sent in a sandbox that began at `start`. Source: observed, both SDKs.
    func json(since start: Moment) -> JSON {
        .object(members(.number(createTime.number(since: start)), .number(expireTime.number(since: start))))
    }

    private func members(_ created: JSON, _ expires: JSON) -> JSONObject {
        [
            "id": .string(id), "type": .string(type), "is_read": .bool(isRead), "create_time": created,
            "expire_time": expires, "content": content,
        ]
    }

    /// The message as in a fixture, plus the members only the server knows.
    var record: JSON {
        var record = members(createTime.json, expireTime.json)
        if let applicationID { record.append("application_id", .string(applicationID)) }
        record.append("stamp", JSON(stamp))
        return .object(record)
    }

    /// Whether clients of that application see the message at a moment, in a sandbox that began at `start`.
    func isListed(for application: String, at moment: Moment, since start: Moment) -> Bool {
        (applicationID ?? application).hasSameBytes(as: application)
            && expireTime.number(since: start).double > moment.unixSeconds
    }

    /// Whether both have the same content, regardless of read flag and stamp.
    func hasSameContent(as other: InboxMessage) -> Bool {
        var other = other
        (other.isRead, other.stamp) = (isRead, stamp)
        return self == other
    }
}

/// Where a message is read from, which decides what may be absent.
enum InboxMessageSource {
    /// A fixture, which must contain the times.
    case fixture
    /// An action: absent or relative times are based on this moment.
    case order(Moment)
    /// An export, which has all members of ``InboxMessage/record``.
    case export

    /// The default lifetime of a message (ours): 30 days.
    static let usualLifeInSeconds = 2_592_000.0
}

extension InboxMessage {
    /// Reads a message and checks all rules, whatever the source.
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

    /// Unknown members are passed on, since the vendor's campaigns have more than these.
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

    /// A message without HTML could not be shown (ours).
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
    /// The whole number here, used as a counter.
    func count() throws(FixtureProblem) -> Int {
        try int(in: 0...Inbox.mostChanges)
    }
}
