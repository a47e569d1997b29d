/// How far a client has come with an inbox: `v1.<customer number>.<epoch>.<change counter>`.
///
/// ours: opaque to clients. It needs no table, and survives a restart with the same fixtures.
struct SyncToken: Sendable, Hashable {
    /// The number of the customer in the project.
    let customer: Int
    let epoch: Int
    let counter: Int

    init(customer: Int, epoch: Int, counter: Int) {
        self.customer = customer
        self.epoch = epoch
        self.counter = counter
    }

    /// Reads a token in the one form that it is written in; `nil` for every other string.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "v1" else { return nil }
        let numbers = parts.dropFirst().compactMap { Int($0) }
        guard numbers.count == 3, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        self.init(customer: numbers[0], epoch: numbers[1], counter: numbers[2])
        // Signs and leading zeros give the same numbers.
        guard customer > 0, epoch > 0, self.text.utf8.elementsEqual(text.utf8) else { return nil }
    }

    var text: String { "v1.\(customer).\(epoch).\(counter)" }
}
