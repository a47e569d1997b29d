import Emulation
import JSON

/// How far a message has reached a participant; read implies delivered.
enum ComapiMessageStatus: String, Sendable, CaseIterable, RecordValue {
    case delivered
    case read
}

struct ComapiMessage: Sendable {
    /// Its sending, which has its id, sender and time.
    let event: ComapiEvent
    /// The member `from` of its context: id, name and picture of the sender at the time of sending.
    private(set) var from: JSON
    private(set) var metadata: JSON
    private(set) var parts: JSON
    private(set) var alert: JSON?
    var statuses: [ComapiID: (status: ComapiMessageStatus, on: Moment)] = [:]
    private(set) var byteCount = 0

    var id: String { event.messageID }

    init(sentBy event: ComapiEvent, from: JSON, metadata: JSON = [:], parts: JSON = [], alert: JSON? = nil) {
        (self.event, self.from) = (event, from)
        (self.metadata, self.parts, self.alert) = (metadata, parts, alert)
        countBytes()
    }

    private mutating func countBytes() {
        byteCount = metadata.bytes.count + parts.bytes.count + (alert?.bytes.count ?? 0) + 500
    }
}

/// A message was sent, or its status changed for a participant.
struct ComapiEvent: Sendable, CodedRecord {
    private(set) var id = 0
    private(set) var eventID = ""
    private(set) var actor = ComapiID("")
    private(set) var moment = Moment(unixSeconds: 0)
    private(set) var messageID = ""
    /// The new status, and since when; `nil` if the message was sent.
    private(set) var status: ComapiMessageStatus?
    private(set) var on: Moment?

    var isSent: Bool { status == nil }

    /// The last part of the frame's name.
    var name: String { status?.rawValue ?? "sent" }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id, in: 1...ComapiEventLog.largestID)
        coder.member("event", &eventID)
        coder.member("actor", &actor)
        coder.instant("at", &moment)
        coder.member("message", &messageID)
        var name = name
        coder.member("kind", &name, or: nil, write: { $0.written }) { (node) throws(FixtureProblem) in
            let name = try node.string()
            guard name == "sent" || ComapiMessageStatus(rawValue: name) != nil else {
                throw node.problem("“\(name)” is not one of sent, delivered, read")
            }
            return name
        }
        status = ComapiMessageStatus(rawValue: name)
        coder.instant("on", &on)
        coder.check(status == nil || on != nil, or: "member “on” is missing")
        if status == nil { on = nil }
    }
}

/// The events of a conversation, numbered 1, 2, 3 … without gaps.
struct ComapiEventLog: Sendable {
    /// The maximum number of events; older ones are dropped, and the rest reads as if they had never existed. ours.
    static let capacity = 10_000

    private(set) var events: [ComapiEvent] = []
    private(set) var messages: [String: ComapiMessage] = [:]
    /// The number of the newest event; 0 if there is none.
    private(set) var lastID = 0
    private(set) var latestSentID: Int?
    private(set) var byteCount = 0

    /// The maximum event number; a log that an import has brought there accepts no more events. ours.
    static let largestID = 1 << 40

    var hasRoom: Bool { lastID < Self.largestID }

    var nextID: Int { lastID + 1 }

    var firstID: Int { events.first?.id ?? nextID }

    subscript(id: Int) -> ComapiEvent? {
        let index = id - firstID
        return events.indices.contains(index) ? events[index] : nil
    }

    mutating func append(_ message: ComapiMessage) {
        messages[message.id] = message
        byteCount += message.byteCount
        latestSentID = message.event.id
        append(message.event)
    }

    /// Adds an event, and sets the status that it gives its message.
    mutating func append(_ event: ComapiEvent) {
        if let status = event.status, let on = event.on {
            messages[event.messageID]?.statuses[event.actor] = (status, on)
        }
        events.append(event)
        byteCount += Self.eventBytes
        lastID = event.id
        guard events.count > Self.capacity else { return }
        // A hundredth at once: removing single elements from the front would move all others each time.
        let oldest = events.prefix(Self.capacity / 100)
        for event in oldest {
            let message = event.isSent ? messages.removeValue(forKey: event.messageID) : nil
            byteCount -= Self.eventBytes + (message?.byteCount ?? 0)
        }
        events.removeFirst(oldest.count)
    }

    /// The estimated size of an event with the status that it may set, in bytes.
    private static let eventBytes = 250

    // MARK: - As records

    /// Codes the members of a conversation that belong to its log: the number of the last event, and the events.
    mutating func code(_ coder: inout RecordCoder) {
        var last: Int? = lastID
        coder.member("last_event", &last, in: 0...Self.largestID)
        var entries = coder.isReading ? [] : events.map { ComapiLogEntry(event: $0, message: messages[$0.messageID]) }
        var (previous, sent): (Int?, Set<String>) = (nil, [])
        coder.list("events", &entries, atMost: Self.capacity) { entry in
            let event = entry.event
            if let previous, event.id != previous + 1 {
                return "event \(event.id) follows event \(previous); events have no gaps"
            }
            if event.isSent, !sent.insert(event.messageID).inserted {
                return "another message has the id \(event.messageID)"
            }
            previous = event.id
            return nil
        }
        guard coder.isReading else { return }
        let newest = previous ?? 0
        coder.check(
            (last ?? newest) >= newest && (entries.isEmpty || last ?? newest == newest),
            or: "last_event is \(last ?? newest), and the last event listed is \(newest)")
        events = entries.map(\.event)
        for message in entries.compactMap(\.message) { messages[message.id] = message }
        byteCount = events.count * Self.eventBytes + messages.values.reduce(0) { $0 + $1.byteCount }
        lastID = last ?? newest
        latestSentID = events.last(where: \.isSent)?.id
    }
}

/// An event in an export, with the message that it sent.
private struct ComapiLogEntry: CodedRecord {
    var event = ComapiEvent()
    var message: ComapiMessage?

    mutating func code(_ coder: inout RecordCoder) {
        event.code(&coder)
        guard event.isSent else { return }
        let sender = event.actor.json
        var sent = message ?? ComapiMessage(sentBy: event, from: ["id": sender, "name": sender])
        sent.code(&coder)
        message = sent
    }
}

extension ComapiMessage {
    private struct Status: CodedRecord {
        var profile = ComapiID("")
        var status = ComapiMessageStatus.delivered
        var on = Moment(unixSeconds: 0)

        mutating func code(_ coder: inout RecordCoder) {
            coder.member("profile", &profile)
            coder.member("status", &status)
            coder.instant("on", &on)
        }
    }

    /// Codes the message's data besides its event.
    fileprivate mutating func code(_ coder: inout RecordCoder) {
        coder.member("from", &from, or: from)
        coder.member("metadata", &metadata, or: [:])
        coder.member("parts", &parts, or: .null)
        coder.check(parts.array != nil, or: "a message has parts")
        coder.member("alert", &alert)
        var list = statuses.sorted { $0.key < $1.key }.map { Status(profile: $0, status: $1.status, on: $1.on) }
        coder.list("statuses", &list)
        guard coder.isReading else { return }
        for entry in list { statuses[entry.profile] = (entry.status, entry.on) }
        countBytes()
    }
}

/// A page of messages, walked back from the newest event.
struct ComapiMessagePage {
    /// The highest event id requested, limited to the newest one.
    let latestEventID: Int
    /// The last event walked, or 0 if no older one exists, which tells clients to stop. Source: Android SDK's test
    /// data, JS SDK, chat SDKs.
    let earliestEventID: Int
    /// The messages, newest first.
    private(set) var messages: [ComapiMessage] = []
    /// Status events whose message is not on the page, newest first.
    private(set) var orphans: [ComapiEvent] = []

    /// Walks back from `from`, or from the newest event, to the sent event that fills the page (ours: the limit counts
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
