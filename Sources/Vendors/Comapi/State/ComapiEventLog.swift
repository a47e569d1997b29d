import Emulation
import JSON

/// How far a message has come with somebody; read implies delivered.
enum ComapiMessageStatus: String, Sendable, CaseIterable {
    case delivered
    case read
}

/// A message as it was sent, with what became of it.
struct ComapiMessage: Sendable {
    let id: String
    let sentEventID: Int
    let sender: ComapiID
    /// The member `from` of its context: id, name and picture of the sender when it was sent.
    let from: JSON
    let sent: Moment
    let metadata: JSON
    let parts: JSON
    let alert: JSON?
    /// By whom it was received.
    var statuses: [ComapiID: (status: ComapiMessageStatus, on: Moment)] = [:]
    /// What it takes, in bytes.
    let byteCount: Int
}

/// Something that happened in a conversation, numbered.
struct ComapiEvent: Sendable {
    enum Kind: Sendable {
        case sent
        case status(ComapiMessageStatus, on: Moment)
    }

    let id: Int
    let eventID: String
    let actor: ComapiID
    let moment: Moment
    let messageID: String
    let kind: Kind

    var isSent: Bool { if case .sent = kind { true } else { false } }

    /// The last part of its frame's name.
    var name: String {
        switch kind {
        case .sent: "sent"
        case .status(let status, _): status.rawValue
        }
    }
}

/// The events of a conversation, numbered 1, 2, 3 … without gaps.
struct ComapiEventLog: Sendable {
    /// Events beyond this number push out the oldest ones; what is left then reads as if it were all there ever was. ours.
    static let capacity = 10_000

    private(set) var events: [ComapiEvent] = []
    private(set) var messages: [String: ComapiMessage] = [:]
    /// The number of the newest event; 0 without any.
    private(set) var lastID = 0
    private(set) var latestSentID: Int?

    /// The largest number of an event; a log that an import has brought there takes no more. ours.
    static let largestID = 1 << 40

    /// Whether there is a number for one more event.
    var hasRoom: Bool { lastID < Self.largestID }

    /// The number that the next event will have.
    var nextID: Int { lastID + 1 }

    /// The number of the oldest event that is kept.
    var firstID: Int { events.first?.id ?? nextID }

    subscript(id: Int) -> ComapiEvent? {
        let index = id - firstID
        return events.indices.contains(index) ? events[index] : nil
    }

    /// Adds a message with the event of its sending.
    ///
    /// - Returns: the bytes that older events gave back.
    mutating func append(_ message: ComapiMessage, eventID: String) -> Int {
        messages[message.id] = message
        latestSentID = message.sentEventID
        return append(
            ComapiEvent(
                id: message.sentEventID, eventID: eventID, actor: message.sender, moment: message.sent,
                messageID: message.id, kind: .sent))
    }

    /// Notes how far a message has come with somebody.
    ///
    /// - Returns: the bytes that older events gave back.
    mutating func append(
        _ status: ComapiMessageStatus, on moment: Moment, of messageID: String, by profile: ComapiID,
        eventID: String, at now: Moment
    ) -> Int {
        messages[messageID]?.statuses[profile] = (status, moment)
        return append(
            ComapiEvent(
                id: nextID, eventID: eventID, actor: profile, moment: now, messageID: messageID,
                kind: .status(status, on: moment)))
    }

    private mutating func append(_ event: ComapiEvent) -> Int {
        events.append(event)
        lastID = event.id
        return events.count > Self.capacity ? trim() : 0
    }

    /// A hundredth at once: taking single elements off the front would move all the others each time.
    private mutating func trim() -> Int {
        let oldest = events.prefix(Self.capacity / 100)
        var bytes = 0
        for event in oldest {
            bytes += Self.eventBytes
            guard event.isSent, let message = messages.removeValue(forKey: event.messageID) else { continue }
            bytes += message.byteCount
        }
        events.removeFirst(oldest.count)
        return bytes
    }

    /// What an event takes, in bytes; estimated.
    static let eventBytes = 250

    /// Puts a log in the place of this one, as an export has it.
    mutating func restore(_ events: [ComapiEvent], _ messages: [String: ComapiMessage], lastID: Int) {
        self.events = events
        self.messages = messages
        self.lastID = lastID
        latestSentID = events.last(where: \.isSent)?.id
    }

    /// What all of it takes, in bytes; estimated.
    var byteCount: Int { events.count * Self.eventBytes + messages.values.reduce(0) { $0 + $1.byteCount } }
}

/// A page of messages, walked from the newest event down.
struct ComapiMessagePage {
    /// The highest event id wanted, clipped to the newest one.
    let latestEventID: Int
    /// The last event walked, and 0 where nothing lies below it: upon that, clients stop asking. Source: Android SDK's test
    /// data, JS SDK, chat SDKs.
    let earliestEventID: Int
    /// Newest first.
    private(set) var messages: [ComapiMessage] = []
    /// Status events whose message is not in the page, newest first.
    private(set) var orphans: [ComapiEvent] = []

    /// Walks down from `from`, or the newest event, to the sent event that makes the page full (ours: the limit counts
    /// messages, not events).
    init(_ log: ComapiEventLog, from: Int?, limit: Int) {
        latestEventID = min(from ?? log.lastID, log.lastID)
        var (id, walked) = (latestEventID, 0)
        var statuses: [ComapiEvent] = []
        var ids: Set<String> = []
        while messages.count < limit, let event = log[id] {
            if let message = event.isSent ? log.messages[event.messageID] : nil {
                messages.append(message)
                ids.insert(message.id)
            } else {
                statuses.append(event)
            }
            walked = id
            id -= 1
        }
        earliestEventID = walked == log.firstID ? 0 : walked
        orphans = statuses.filter { !ids.contains($0.messageID) }
    }
}
