import Synchronization

/// The exchange that caused messages to sockets; its number is known once the journal has it.
@usableFromInline
final class FrameCause: Sendable {
    private let number = Atomic<Int>(0)

    init() {}

    /// The number of the entry; `nil` while there is none.
    var entry: Int? {
        let number = number.load(ordering: .relaxed)
        return number == 0 ? nil : number
    }

    func stands(at entry: Int) { number.store(entry, ordering: .relaxed) }
}
