import Emulation

/// The sessions with open sockets, and the earliest time one of them expires.
struct ComapiOpenSockets: Sendable {
    private var open: [ComapiSessionID: (count: Int, expires: Moment)] = [:]
    /// Cached, since it is read after every exchange.
    private(set) var earliest: Moment?

    func over(at moment: Moment) -> [ComapiSessionID] { open.filter { $0.value.expires <= moment }.map(\.key).sorted() }

    mutating func add(_ session: ComapiSessionID, expires: Moment) {
        open[session, default: (0, expires)].count += 1
        if earliest.map({ expires < $0 }) ?? true { earliest = expires }
    }

    mutating func remove(_ session: ComapiSessionID) {
        guard let entry = open[session] else { return }
        if entry.count > 1 { open[session]?.count -= 1 } else { forget(session) }
    }

    mutating func forget(_ session: ComapiSessionID) {
        guard let entry = open.removeValue(forKey: session) else { return }
        if entry.expires == earliest { findEarliest() }
    }

    mutating func setExpiry(of session: ComapiSessionID, _ moment: Moment) {
        guard open[session] != nil else { return }
        open[session]?.expires = moment
        findEarliest()
    }

    private mutating func findEarliest() { earliest = open.values.map(\.expires).min() }
}
