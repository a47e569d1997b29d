/// How much of a vendor's state a sandbox keeps besides the fixtures.
public struct StateSize: Sendable, Hashable {
    public var records: Int
    /// An estimate, which must be cheap to get.
    public var bytes: Int

    @inlinable
    public init(records: Int = 0, bytes: Int = 0) { (self.records, self.bytes) = (records, bytes) }

    /// The most that a sandbox keeps of each vendor (ours).
    ///
    /// What adds to a state that has come to it is undone and refused, so that no client can fill the memory: with 413,
    /// which covers more than a server is able to keep (RFC 9110 section 15.5.14). Waiting (429) would not help.
    @inlinable public static var most: StateSize { StateSize(records: 100_000, bytes: 256 << 20) }

    @inlinable public var isFull: Bool { records >= Self.most.records || bytes >= Self.most.bytes }

    @inlinable
    public static func += (sum: inout StateSize, other: StateSize) {
        sum = StateSize(records: sum.records + other.records, bytes: sum.bytes + other.bytes)
    }

    @inlinable
    public static func + (one: StateSize, other: StateSize) -> StateSize {
        StateSize(records: one.records + other.records, bytes: one.bytes + other.bytes)
    }

    @inlinable
    public static func - (one: StateSize, other: StateSize) -> StateSize {
        StateSize(records: one.records - other.records, bytes: one.bytes - other.bytes)
    }
}

extension Vendor {
    /// By default, a state is never full.
    @inlinable
    public func size(of state: State) -> StateSize { StateSize() }

    /// A copy of a state that is full, to undo what adds to it; only then, since the next change has to copy the tables.
    @inlinable
    func fullCopy(of state: State) -> State? { size(of: state).isFull ? state : nil }

    /// Undoes what was added to a full state.
    ///
    /// - Returns: why it was undone; `nil` if nothing was added.
    @usableFromInline
    func undo(_ state: inout State, since full: State) -> String? {
        let (before, now) = (size(of: full), size(of: state))
        guard now.records > before.records || now.bytes > before.bytes else { return nil }
        state = full
        let most = StateSize.most
        return "the sandbox keeps \(before.records) records of \(before.bytes) bytes of \(Self.identity.title); "
            + "expected fewer than \(most.records) of \(most.bytes) before anything is added"
    }
}

extension RecordTable {
    /// What requests added to the records of the fixtures.
    @inlinable public var size: StateSize {
        guard !overlay.isEmpty else { return StateSize() }
        return StateSize(
            records: overlay[0].added.count, bytes: overlay[0].byteCount - base.untouched.byteCount)
    }
}
