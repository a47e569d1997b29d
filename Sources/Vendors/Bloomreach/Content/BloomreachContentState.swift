import Emulation
import JSON

/// What is remembered of content in one sandbox: inboxes, segments and consents of customers.
struct BloomreachContentState: Sendable {
    /// The most that messages of all inboxes may have together, in bytes of text.
    ///
    /// ours: a bound, so that nothing that adds messages can fill the machine.
    static let byteLimit = 8 << 20

    private(set) var inboxes: [BloomreachCustomerKey: Inbox] = [:]
    private(set) var segments: [BloomreachCustomerKey: CustomerSegments] = [:]
    /// What customers have agreed to, by category; no where they said nothing.
    private(set) var consents: [BloomreachCustomerKey: [String: Bool]] = [:]
    /// What the messages of all inboxes have together.
    private(set) var byteCount = 0
    /// When content was answered first, from which it counts its times; `nil` before that.
    var start: Moment?

    /// Nothing of anybody.
    init() {}

    /// What a sandbox starts with.
    init(_ content: BloomreachContent) { self = content.initialState }

    /// The moment from which content counts its times: now, if it was never answered before.
    mutating func begin(at moment: Moment) -> Moment {
        let begun = start ?? moment
        start = begun
        return begun
    }

    /// The inbox of a customer.
    func inbox(of customer: BloomreachCustomerKey) -> Inbox { inboxes[customer] ?? Inbox() }

    /// The segments of a customer.
    func segments(of customer: BloomreachCustomerKey) -> CustomerSegments { segments[customer] ?? CustomerSegments() }

    /// Whether a customer has agreed to a category.
    func consent(to category: String, of customer: BloomreachCustomerKey) -> Bool {
        // By bytes: a dictionary also finds names in another Unicode normalization.
        consents[customer]?.first { $0.key.hasSameBytes(as: category) }?.value ?? false
    }

    /// Whether a message can be added to an inbox; otherwise what is in the way.
    func obstacle(to message: InboxMessage, in inbox: Inbox) -> String? {
        if inbox.contains(message.id) { return "the inbox has a message \(message.id) already" }
        if inbox.messages.count >= Inbox.capacity { return "the inbox is full: it has \(Inbox.capacity) messages" }
        guard byteCount + message.byteCount <= Self.byteLimit else {
            return "the inboxes of the sandbox are full: their messages have \(byteCount) of \(Self.byteLimit) bytes"
        }
        return nil
    }

    /// Stores an inbox that may have changed.
    mutating func setInbox(_ inbox: Inbox, of customer: BloomreachCustomerKey) {
        let old = inboxes.updateValue(inbox, forKey: customer)
        byteCount += inbox.byteCount - (old?.byteCount ?? 0)
    }

    /// Stores the segments of a customer.
    mutating func setSegments(_ segments: CustomerSegments, of customer: BloomreachCustomerKey) {
        self.segments[customer] = segments
    }

    /// Stores all that a customer said about categories.
    mutating func setConsents(_ consents: [String: Bool], of customer: BloomreachCustomerKey) {
        self.consents[customer] = consents
    }

    /// Stores whether a customer agrees to a category.
    mutating func setConsent(_ value: Bool, to category: String, of customer: BloomreachCustomerKey) {
        consents[customer, default: [:]][category] = value
    }
}

// MARK: - What becomes of customers

extension BloomreachContentState {
    /// Gives what an anonymous customer has to another one, and forgets the first: what the other one has wins.
    ///
    /// An anonymous customer has no inbox that could be moved.
    mutating func merge(from source: BloomreachCustomerKey, into target: BloomreachCustomerKey) {
        if let moved = segments[source], segments[target] == nil { segments[target] = moved }
        if let moved = consents[source] { consents[target, default: [:]].merge(moved) { own, _ in own } }
        forget(customer: source)
    }

    /// Empties the inbox of a customer who becomes anonymous, and forgets what the customer agreed to and is in.
    mutating func anonymize(_ customer: BloomreachCustomerKey) {
        var inbox = inbox(of: customer)
        inbox.clear()
        setInbox(inbox, of: customer)
        segments[customer] = nil
        consents[customer] = nil
    }

    /// Removes all that is kept of a customer who is no more.
    mutating func forget(customer: BloomreachCustomerKey) {
        if let inbox = inboxes.removeValue(forKey: customer) { byteCount -= inbox.byteCount }
        segments[customer] = nil
        consents[customer] = nil
    }
}
