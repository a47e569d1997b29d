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

        /// A sentence that explains the position.
        var note: String {
            switch self {
            case .current(let stamp): "The client has the changes up to \(stamp)."
            case .elsewhere: "The token is of another customer, so all messages are new."
            case .ahead: "The token is ahead of this server, which was started anew, so all messages are new."
            case .stale: "Messages were taken out of the inbox since; only a fetch without a token can tell."
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

    /// The token for the current position of the inbox.
    func token(for customer: Int) -> SyncToken { SyncToken(customer: customer, epoch: epoch, counter: counter) }
}
