import Emulation
import JSON

/// The content state of one sandbox: inboxes, segments and consents of customers.
struct BloomreachContentState: Sendable {
    private(set) var inboxes = ContentParts(none: Inbox())
    var segments = ContentParts(none: CustomerSegments())
    var consents = ContentParts(none: CustomerConsents())
    /// The total size of the messages in all inboxes.
    private(set) var byteCount = 0
    /// When content was first served, the origin of its relative times; `nil` before that.
    var start: Moment?

    init() {}

    init(_ content: BloomreachContent) { self = content.initialState }

    /// The origin of relative times in content: `moment`, if content was never served before.
    mutating func begin(at moment: Moment) -> Moment {
        let begun = start ?? moment
        start = begun
        return begun
    }

    func inbox(of customer: BloomreachCustomerKey) -> Inbox { inboxes[customer] }

    func consent(to category: String, of customer: BloomreachCustomerKey) -> Bool {
        // By bytes: a dictionary also finds names in another Unicode normalization.
        consents[customer].categories.first { $0.key.hasSameBytes(as: category) }?.value ?? false
    }

    /// Why a message cannot be added to an inbox; `nil` if it can.
    func obstacle(to message: InboxMessage, in inbox: Inbox) -> String? {
        if inbox.contains(message.id) { return "the inbox has a message \(message.id) already" }
        return inbox.messages.count < Inbox.capacity
            ? nil : "the inbox is full: it has \(Inbox.capacity) messages"
    }

    /// Stores an inbox that may have changed.
    mutating func setInbox(_ inbox: Inbox, of customer: BloomreachCustomerKey) {
        byteCount += inbox.byteCount - inboxes[customer].byteCount
        inboxes[customer] = inbox
    }

    /// Stores whether a customer agrees to a category.
    mutating func setConsent(_ value: Bool, to category: String, of customer: BloomreachCustomerKey) {
        consents[customer].categories[category] = value
    }
}

// MARK: - Changes of customers

extension BloomreachContentState {
    /// Moves an anonymous customer's content to another customer and forgets the first; the target's own content wins.
    ///
    /// An anonymous customer has no inbox to move.
    mutating func merge(from source: BloomreachCustomerKey, into target: BloomreachCustomerKey) {
        if segments.isKept(of: source), !segments.isKept(of: target) { segments[target] = segments[source] }
        if consents.isKept(of: source) {
            consents[target].categories.merge(consents[source].categories) { own, _ in own }
        }
        forget(customer: source)
    }

    /// Empties the inbox of a customer who becomes anonymous, and forgets its consents and segments.
    mutating func anonymize(_ customer: BloomreachCustomerKey) {
        var inbox = inboxes[customer]
        inbox.clear()
        forget(customer: customer)
        setInbox(inbox, of: customer)
    }

    /// Removes all content of a removed customer.
    mutating func forget(customer: BloomreachCustomerKey) {
        byteCount -= inboxes[customer].byteCount
        inboxes.forget(customer)
        segments.forget(customer)
        consents.forget(customer)
    }

    /// The state with customers renumbered; customers without a new number lose their content.
    func renumbered(_ number: (BloomreachCustomerKey) -> BloomreachCustomerKey?) -> BloomreachContentState {
        var state = self
        state.inboxes = inboxes.renumbered(number)
        state.segments = segments.renumbered(number)
        state.consents = consents.renumbered(number)
        state.byteCount = state.inboxes.parts.values.reduce(0) { $0 + $1.byteCount }
        return state
    }

    /// The state after the fixtures were replaced: whatever no request or action changed takes the new values.
    ///
    /// - Parameters:
    /// - new: the new content of the fixtures, with this sandbox's customer numbers.
    /// - old: the previous content of the fixtures, with this sandbox's customer numbers.
    func following(_ new: BloomreachContentState, insteadOf old: BloomreachContentState) -> BloomreachContentState {
        var state = new
        state.start = start
        let customers = Set(inboxes.parts.keys).union(old.inboxes.parts.keys).union(new.inboxes.parts.keys)
        for customer in customers {
            let inbox = inboxes[customer].following(new.inboxes[customer], insteadOf: old.inboxes[customer])
            state.setInbox(inbox, of: customer)
        }
        for (customer, part) in segments.changed(since: old.segments) { state.segments[customer] = part }
        for (customer, part) in consents.changed(since: old.consents) { state.consents[customer] = part }
        return state
    }
}
