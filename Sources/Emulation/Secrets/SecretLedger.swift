/// The secrets that a state has come to hold, such as passwords of users who registered, in the order in which it learned them.
///
/// Nothing is taken out when a secret is replaced: journals show what was sent before. Whoever looks for secrets asks for
/// what is new since the last time, so that a lookup costs nothing while nothing is.
public struct SecretLedger: Sendable {
    /// ours: beyond this number the older half is forgotten, so that a load test cannot fill the machine.
    private static let capacity = 100_000

    private var entries: [(number: Int, text: String)] = []

    /// Nothing yet.
    public init() {}

    /// Notes a secret.
    public mutating func add(_ text: String) {
        if entries.count >= Self.capacity { entries.removeFirst(Self.capacity / 2) }
        entries.append((Generation.next(), text))
    }

    /// The number of the newest secret; 0 without one.
    var latest: Int { entries.last?.number ?? 0 }

    /// The secrets that are newer than the one of that number.
    func texts(after number: Int) -> [String] {
        entries.reversed().prefix { $0.number > number }.map(\.text)
    }
}

/// How much of a vendor's ledger in a sandbox is known: up to which secret of which state.
public struct SecretMark: Hashable, Sendable {
    /// Counts the states of which one replaced the other.
    let era: Int
    let number: Int
}
