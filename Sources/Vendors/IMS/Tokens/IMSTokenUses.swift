import JSON

/// Which token ids were used, by which device first, and until when that matters.
///
/// Source: replay protection is the documented purpose of `jti` (seed); the modes and bounds are ours.
struct IMSTokenUses: Sendable {
    /// ours: bounds of the memory; beyond them the earliest uses are forgotten, so that replays of those are accepted.
    private let capacity: Int
    static let standardCapacity = 20_000
    static let byteCapacity = 8 * 1024 * 1024

    /// A token id of an issuer.
    struct Key: Hashable, Sendable {
        let issuer: ExactText
        let tokenID: ExactText

        fileprivate var byteCount: Int { issuer.text.utf8.count + tokenID.text.utf8.count }
    }

    /// The first use.
    struct Use: Hashable, Sendable {
        /// What the device called itself; empty without a name.
        let device: String
        /// The moment from which nobody accepts the token any more, in Unix seconds.
        let end: Double
        /// The place in the order of uses.
        var number = 0
    }

    private var uses: [Key: Use] = [:]
    private var byteCount = 0
    private var lastNumber = 0
    /// The number of uses at which it is worth looking for those that are over.
    private var nextSweep = 1000

    /// Nothing was used yet.
    init(capacity: Int = IMSTokenUses.standardCapacity) {
        self.capacity = capacity
    }

    /// All uses, the earliest first.
    var all: [(key: Key, use: Use)] {
        uses.map { ($0.key, $0.value) }.sorted { $0.1.number < $1.1.number }
    }

    var count: Int { uses.count }

    /// Notes a use, unless the token id was used before.
    ///
    /// - Returns: the device of the first use; `nil` when this is it.
    mutating func use(
        _ tokenID: String, of issuer: String, by device: String, until end: Double, at moment: Double
    ) -> String? {
        let key = Key(issuer: ExactText(issuer), tokenID: ExactText(tokenID))
        if let known = uses[key] {
            if moment < known.end { return known.device }
            remove(key)
        }
        insert(key, device: device, until: end)
        if uses.count >= nextSweep || byteCount > Self.byteCapacity { sweep(at: moment) }
        return nil
    }

    /// Puts a use there that was noted elsewhere.
    mutating func insert(_ key: Key, device: String, until end: Double) {
        remove(key)
        lastNumber += 1
        uses[key] = Use(device: device, end: end, number: lastNumber)
        byteCount += key.byteCount + device.utf8.count
    }

    private mutating func remove(_ key: Key) {
        guard let use = uses.removeValue(forKey: key) else { return }
        byteCount -= key.byteCount + use.device.utf8.count
    }

    /// Forgets what is over, and where that is not enough, the earliest tenth.
    private mutating func sweep(at moment: Double) {
        for (key, use) in uses where use.end <= moment { remove(key) }
        if uses.count >= capacity || byteCount > Self.byteCapacity {
            for (key, _) in all.prefix(uses.count / 10 + 1) { remove(key) }
        }
        nextSweep = min(max(1000, uses.count * 2), capacity)
    }
}
