import Emulation
import JSON

/// A customer's app inbox, shared by all devices.
///
/// Each change increments a counter and stamps the message it touches, so a client requests the messages with a higher
/// stamp than its own. A delta cannot report a removed message, so a removal begins a new epoch.
struct Inbox: Sendable, Hashable {
    /// ours: the most messages, each of which every fetch may answer with.
    static let capacity = 200
    /// The maximum number of a change or an epoch. ours.
    static let mostChanges = 1_000_000_000
    /// ours.
    static let messageByteLimit = 64 * 1024

    private(set) var epoch = 1
    private(set) var counter = 0
    /// In order of arrival.
    private(set) var messages: [InboxMessage] = []

    init() {}

    var byteCount: Int { messages.reduce(0) { $0 + $1.byteCount } }

    func contains(_ id: String) -> Bool { index(of: id) != nil }

    subscript(id: String) -> InboxMessage? { index(of: id).map { messages[$0] } }

    /// The messages that clients of an application see, newest first.
    ///
    /// - Parameters:
    ///   - start: when the sandbox began.
    /// - stamp: only messages with a higher stamp are listed.
    func listed(for application: String, at moment: Moment, since start: Moment, above stamp: Int) -> [InboxMessage] {
        // Among equal times the latest arrival comes first; reversed first, since sorting is stable.
        messages.reversed().filter { $0.stamp > stamp && $0.isListed(for: application, at: moment, since: start) }
            .map { (message: $0, created: $0.createTime.number(since: start).double) }.enumerated()
            .sorted {
                let (one, other) = ($0.element.created, $1.element.created)
                return one == other ? $0.offset < $1.offset : one > other
            }
            .map(\.element.message)
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
                return "the message has stamp \(message.stamp), but the inbox came to \(counter)"
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
        return messages.count == Self.capacity ? "an inbox has at most \(Self.capacity) messages" : nil
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
                if isNew, inbox.messages.count < Self.capacity { inbox.add(message) }
                continue
            }
            guard let before = old[message.id], mine.hasSameContent(as: before), !message.hasSameContent(as: before)
            else { continue }
            inbox.replace(mine, with: message)
        }
        return inbox
    }

    private mutating func replace(_ mine: InboxMessage, with message: InboxMessage) {
        guard let index = index(of: mine.id) else { return }
        var message = message
        message.isRead = mine.isRead || message.isRead
        message.stamp = nextChange()
        messages[index] = message
    }
}
