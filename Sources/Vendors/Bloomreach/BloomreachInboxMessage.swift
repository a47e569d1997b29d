import Emulation
import JSON

struct InboxMessage: Sendable, Hashable {
    private(set) var id = ""
    /// `push` or `html`; the SDKs drop any other type.
    private(set) var type = ""
    /// `nil` for a message that fits every application.
    private(set) var applicationID: String?
    private(set) var createTime = ContentTime.after(seconds: 0)
    var expireTime = ContentTime.after(seconds: 0)
    private(set) var content: JSON = [:]
    var isRead = false
    /// The number of the change that last touched the message.
    var stamp = 0
    /// The size of the message, in bytes of text.
    private(set) var byteCount = 0

    /// The message as sent in a sandbox that began at `start`. Source: observed, both SDKs.
    func json(since start: Moment) -> JSON {
        [
            "id": .string(id), "type": .string(type), "is_read": .bool(isRead),
            "create_time": .number(createTime.number(since: start)),
            "expire_time": .number(expireTime.number(since: start)), "content": content,
        ]
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

// MARK: - As a record

/// Messages as fixtures list them; exports add what only the server knows.
extension InboxMessage: CodedRecord {
    /// The default lifetime of a message that an action sends (ours): 30 days.
    private static let usualLifeInSeconds = 2_592_000.0

    mutating func code(_ coder: inout RecordCoder) {
        coder.writesLast("application_id", "stamp")
        coder.reading { (mapping) throws(FixtureProblem) in try Self.shape.check(mapping.node) }
        coder.member("id", &id)
        coder.member("type", &type)
        coder.member("application_id", &applicationID)
        coder.member("is_read", &isRead, or: false)
        coder.time("create_time", &createTime, later: 0)
        coder.time("expire_time", &expireTime, later: Self.usualLifeInSeconds)
        coder.member("content", &content)
        if coder.extent != nil { coder.member("stamp", &stamp, in: 0...Inbox.mostChanges) }
        guard coder.isReading else { return }
        byteCount = content.bytes.count + id.utf8.count + (applicationID?.utf8.count ?? 0) + 64
        let contentShape = type == "html" ? Self.htmlContent : Self.pushContent
        coder.reading { (mapping) throws(FixtureProblem) in try contentShape.check(try mapping.required("content")) }
        coder.check(
            byteCount <= Inbox.messageByteLimit,
            or: "the message has \(byteCount) bytes; expected at most \(Inbox.messageByteLimit)")
    }

    private static let shape = ContentShape.open([
        .required("id", .name), .required("type", .word(["push", "html"])), .optional("application_id", .name),
        .optional("is_read", .bool), .optional("create_time", .time), .optional("expire_time", .time),
        .required("content", .open([])),
    ])

    /// Unknown members are passed on, since the vendor's campaigns have more than these.
    private static let everyContent: [ContentField] =
        ContentField.optional(["title", "image", "source"], .optional(.text)) + [
            .nullable("attributes", .open([])), .nullable("url_params", .mappings),
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
}

extension RecordCoder {
    /// A time of content. In an action, an absent or relative one is based on the moment.
    fileprivate mutating func time(_ name: String, _ value: inout ContentTime, later: Double) {
        guard case .order(let moment) = form else { return member(name, &value) }
        member(name, &value, or: .at(JSONNumber(moment.unixSeconds + later)))
        value = .at(value.number(since: moment))
    }
}
