/// The secrets that a state has learned, such as passwords of registered users, in the order it learned them.
///
/// Replaced secrets stay: journals show what was sent before. Readers ask only for secrets added since their last read,
/// so a read without new ones costs nothing.
public struct SecretLedger: Sendable {
    /// ours: beyond this number the older half is dropped, so that a load test cannot exhaust the memory.
    private static let capacity = 100_000

    private var entries: [(number: Int, text: String)] = []

    /// Creates an empty ledger.
    public init() {}

    public mutating func add(_ text: String) {
        if entries.count >= Self.capacity { entries.removeFirst(Self.capacity / 2) }
        entries.append((Generation.next(), text))
    }

    /// The number of the newest secret; 0 when there is none.
    var latest: Int { entries.last?.number ?? 0 }

    /// The secrets newer than that number.
    func texts(after number: Int) -> [String] {
        entries.reversed().prefix { $0.number > number }.map(\.text)
    }
}

/// How much of a vendor's ledger in a sandbox has been read: up to which secret of which state.
public struct SecretMark: Hashable, Sendable {
    /// Counts replacements of the state.
    let era: Int
    let number: Int
}
