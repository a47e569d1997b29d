import Synchronization

/// The exchange that sockets were told about; its number is known once it stands in the journal.
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
