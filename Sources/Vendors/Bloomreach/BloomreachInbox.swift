import Emulation
import JSON
import Tokens

/// A customer's app inbox, shared by all devices.
///
/// Each change increments a counter and stamps the message it touches, so a client requests the messages with a higher
/// stamp than its own. A delta cannot report a removed message, so a removal begins a new epoch.
struct Inbox: Sendable, Hashable {
    /// ours: the maximum number of messages, all of which a fetch may return.
    static let capacity = 200
    /// The maximum number of a change or an epoch. ours.
    static let mostChanges = 1_000_000_000
    /// ours.
    static let messageByteLimit = 64 * 1024

    private(set) var epoch = 1
    private(set) var counter = 0
    /// In order of arrival.
    private(set) var messages: [InboxMessage] = []

    var byteCount: Int { messages.reduce(0) { $0 + $1.byteCount } }

    func contains(_ id: String) -> Bool { index(of: id) != nil }

    var isFull: Bool { messages.count == Self.capacity }

    subscript(id: String) -> InboxMessage? { index(of: id).map { messages[$0] } }

    /// The messages that clients of an application see, newest first.
    ///
    /// - Parameters:
    ///   - start: when the sandbox began.
    /// - stamp: only messages with a higher stamp are listed.
    func listed(for application: String, at moment: Moment, since start: Moment, above stamp: Int) -> [InboxMessage] {
        // Among equal times the latest arrival comes first; reversed first, since sorting is stable.
        messages.reversed().filter { $0.stamp > stamp && $0.isListed(for: application, at: moment, since: start) }
            .map { (message: $0, created: $0.createTime.number(since: start).double) }
            .sorted { $0.created > $1.created }.map(\.message)
    }

    /// Adds a message with a fresh stamp; the caller guarantees that its id is new.
    mutating func add(_ message: InboxMessage) {
        var message = message
        message.stamp = nextChange()
        messages.append(message)
    }

    /// Marks messages as read; messages already read keep their stamp.
    mutating func markRead(_ ids: [String]) {
        for id in ids {
            guard let index = index(of: id), !messages[index].isRead else { continue }
            messages[index].isRead = true
            messages[index].stamp = nextChange()
        }
    }

    /// Expires a message; clients need no delta, since each knows the expiry time.
    mutating func expire(_ id: String, at moment: Moment) {
        guard let index = index(of: id) else { return }
        messages[index].expireTime = .at(JSONNumber(moment.unixSeconds))
    }

    /// Removes a message; clients notice only on a full fetch.
    mutating func remove(_ id: String) {
        guard let index = index(of: id) else { return }
        messages.remove(at: index)
        epoch = Ordinal.next(after: epoch, upTo: Self.mostChanges)
    }

    /// Removes all messages. Begins a new epoch even if there are none: a reset must make clients fetch in full.
    mutating func clear() {
        messages = []
        epoch = Ordinal.next(after: epoch, upTo: Self.mostChanges)
    }

    private mutating func nextChange() -> Int {
        counter = Ordinal.next(after: counter, upTo: Self.mostChanges)
        return counter
    }

    private func index(of id: String) -> Int? { messages.firstIndex { $0.id.hasSameBytes(as: id) } }
}

// MARK: - Fixtures, exports and reloads

extension Inbox: CodedRecord {
    mutating func code(_ coder: inout RecordCoder) {
        coder.member("epoch", &epoch, in: 0...Self.mostChanges)
        coder.member("counter", &counter, in: 0...Self.mostChanges)
        coder.check(epoch > 0, or: "the epoch is 0; the first one is 1")
        let written = coder.elements { messages.map { $0.json(.changes) } }
        coder.list("messages", of: InboxMessage.self, written, isRequired: true, atMost: Self.capacity) { message in
            if let complaint = complaint(about: message) { return complaint }
            guard message.stamp <= counter else {
                return "the message has stamp \(message.stamp), but the inbox has reached \(counter)"
            }
            messages.append(message)
            return nil
        }
    }

    /// Reads the messages of a fixture in order of arrival.
    init(_ list: FixtureNode, _ fixtures: VendorFixtures) throws(FixtureProblem) {
        try InboxMessage.read(list, .fixture(fixtures)) { message in
            if let complaint = complaint(about: message) { return complaint }
            add(message)
            return nil
        }
    }

    private func complaint(about message: InboxMessage) -> String? {
        if contains(message.id) { return "another message of this inbox has the id \(message.id)" }
        return isFull ? "an inbox has at most \(Self.capacity) messages" : nil
    }

    /// The inbox after the fixtures of its messages were replaced: messages unchanged in the sandbox take the new
    /// values, all others stay, and clients see each update as a change.
    func following(_ new: Inbox, insteadOf old: Inbox) -> Inbox {
        if new == old { return self }
        if self == old, counter == 0 { return new }
        var inbox = self
        for message in old.messages where new[message.id] == nil && inbox[message.id] == message {
            inbox.remove(message.id)
        }
        for message in new.messages {
            guard let mine = inbox[message.id] else {
                // A message removed in the sandbox stays removed, unless the file changed it.
                let isNew = old[message.id].map { !$0.hasSameContent(as: message) } ?? true
                if isNew, !inbox.isFull { inbox.add(message) }
                continue
            }
            guard let before = old[message.id], mine.hasSameContent(as: before), !message.hasSameContent(as: before),
                let index = inbox.index(of: message.id)
            else { continue }
            inbox.messages[index] = message
            inbox.messages[index].isRead = mine.isRead || message.isRead
            inbox.messages[index].stamp = inbox.nextChange()
        }
        return inbox
    }
}

/// The app inbox. Source: its paths and its access by customer token are documented (SDK page; reference page of the
/// app inbox), bodies are observed in both SDKs; when a sync token is stale is ours.
extension Bloomreach {
    /// The application of apps that name none, such as those with older SDKs.
    private static let usualApplication = "default-application"

    /// Returns the messages of a customer, or those changed since a sync token was issued.
    ///
    /// A customer that is unknown or has no hard id gets no messages or token (ours), so the SDK keeps fetching all.
    static func fetchInbox(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (owner, (application, token)) = try call.ofCustomer {
            ($0.optionalText("application_id") ?? "", $0.optionalText("sync_token") ?? "")
        }
        guard let customer = state.inboxOwner(owner, in: try call.project()) else {
            return .json(["success": true, "messages": []])
        }
        let inbox = state.content[customer].inbox
        let stamp = try call.stamp(after: token, of: inbox, customer.number)
        let start = state.content.begin(at: call.moment)
        let messages = inbox.listed(
            for: application.isEmpty ? usualApplication : application, at: call.moment, since: start, above: stamp)
        return .json([
            "success": true, "messages": .array(messages.map { $0.json(since: start) }),
            "sync_token": .string(inbox.token(for: customer.number).text),
        ])
    }

    /// Marks messages as read for all devices; if any is not in the inbox, marks none.
    ///
    /// The sync token is the one returned with the message; it must be well-formed, but may be old (ours).
    static func markInboxRead(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let (owner, (messages, token)) = try call.ofCustomer { body in
            let messages = body.texts("message_ids", isRequired: true) ?? []
            // ours: no inbox holds more messages, and the SDKs send a list of one.
            if !(1...Inbox.capacity).contains(messages.count) {
                body.refuse("message_ids", "\(messages.count) ids; expected 1 to \(Inbox.capacity)")
            }
            return (messages, body.text("sync_token"))
        }
        if SyncToken(token) == nil, call.switches.syncTokenCheck == .gone {
            throw Refused(.syncTokenUnknown, because: "\(token.shown) is not a sync token; expected one from an answer")
        }
        let customer = state.inboxOwner(owner, in: try call.project())
        var inbox = customer.map { state.content[$0].inbox } ?? Inbox()
        if let unknown = messages.first(where: { !inbox.contains($0) }) {
            throw Refused(
                .messageNotFound, because: "the inbox has no message \(unknown.shown)",
                known: inbox.messages.lazy.map(\.id))
        }
        inbox.markRead(messages)
        if let customer { state.content[customer].inbox = inbox }
        return .json(["success": true])
    }
}

extension Call<Bloomreach> {
    /// The stamp above which messages are new to a client; 0 returns all messages.
    ///
    /// - Throws: ``BloomreachFailure/syncTokenStale`` and ``BloomreachFailure/syncTokenUnknown``, unless switch
    ///   `sync-token-check` makes such clients fetch in full.
    fileprivate mutating func stamp(after text: String, of inbox: Inbox, _ customer: Int) throws(Refused) -> Int {
        if text.isEmpty { return 0 }
        let position = inbox.position(of: text, customer)
        let failure: BloomreachFailure? =
            switch position {
            case .current, .elsewhere, .ahead: nil
            case .stale: .syncTokenStale
            case .unreadable: .syncTokenUnknown
            }
        let isRefused = failure != nil && switches.syncTokenCheck == .gone
        let expected = "v1.\(customer).\(inbox.epoch).0 to \(inbox.token(for: customer).text), or none"
        findings.add(
            Finding(
                "sync-token", isRefused ? .failed : .passed, expected: .text(expected),
                found: .text(String(text.prefix(100))), note: position.note,
                source: "410: iOS tests; form and reasons ours; switch sync-token-check"),
            orFail: failure ?? .syncTokenUnknown)
        if let failure, isRefused {
            throw Refused(failure, because: "sync_token: found \(text.shown); expected \(expected). \(position.note)")
        }
        return if case .current(let stamp) = position { stamp } else { 0 }
    }
}

/// A client's position in an inbox: `v1.<customer number>.<epoch>.<change counter>`.
///
/// ours: opaque to clients. It needs no table, and survives a restart with the same fixtures.
struct SyncToken: Sendable, Hashable {
    let customer: Int
    let epoch: Int
    let counter: Int

    var text: String { "v1.\(customer).\(epoch).\(counter)" }
}

extension SyncToken {
    /// Reads a token in exactly the form it is written in; `nil` for any other string.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "v1" else { return nil }
        let numbers = parts.dropFirst().compactMap { Int($0) }
        guard numbers.count == 3, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        self.init(customer: numbers[0], epoch: numbers[1], counter: numbers[2])
        // Signs and leading zeros would parse to the same numbers.
        guard customer > 0, epoch > 0, self.text.utf8.elementsEqual(text.utf8) else { return nil }
    }
}

extension Inbox {
    /// The position of a client that presents a sync token.
    enum Position {
        /// It has all changes up to this stamp.
        case current(Int)
        /// The token belongs to another customer's inbox: Android sends its old one after an identify (observed).
        case elsewhere
        /// The token refers to changes that do not exist: the server was restarted.
        case ahead
        /// Messages were removed since.
        case stale
        case unreadable

        var note: String {
            switch self {
            case .current(let stamp): "The client has the changes up to \(stamp)."
            case .elsewhere: "The token belongs to another customer, so all messages are new."
            case .ahead: "The token is ahead of this server, which was restarted, so all messages are new."
            case .stale: "Messages have been removed from the inbox since; only a fetch without a token shows that."
            case .unreadable: "This is not a sync token."
            }
        }
    }

    func position(of text: String, _ customer: Int) -> Position {
        guard let token = SyncToken(text) else { return .unreadable }
        guard token.customer == customer else { return .elsewhere }
        if token.epoch < epoch { return .stale }
        return token.epoch > epoch || token.counter > counter ? .ahead : .current(token.counter)
    }

    func token(for customer: Int) -> SyncToken { SyncToken(customer: customer, epoch: epoch, counter: counter) }
}

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
