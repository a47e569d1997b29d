import Emulation
import JSON

/// The first use of a token id of an issuer.
struct IMSTokenUse: KeyedRecord, CodedRecord {
    struct Key: Hashable, Sendable, CustomStringConvertible {
        let issuer: ExactText
        let tokenID: ExactText

        var description: String { JSON.array([issuer.json, tokenID.json]).text }
    }

    var issuer = ""
    var tokenID = ""
    /// The name sent by the device; empty without one.
    var device = ""
    /// The moment from which the token is no longer accepted, in Unix seconds.
    var end = 0.0

    var key: Key { Key(issuer: ExactText(issuer), tokenID: ExactText(tokenID)) }
    var memory: Int { issuer.utf8.count + tokenID.utf8.count + device.utf8.count }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("issuer", &issuer)
        coder.member("jti", &tokenID)
        coder.member("device", &device)
        coder.member("end", &end)
    }
}

/// Which token ids were used, by which device first, and until when that matters.
///
/// Source: replay protection is the documented purpose of `jti` (security page); the modes and bounds are ours.
struct IMSTokenUses: Sendable {
    /// ours: memory limits; beyond them the earliest uses are forgotten, so that their replays are accepted.
    private let capacity: Int
    static let standardCapacity = 20_000
    static let byteCapacity = 8 * 1024 * 1024

    /// The uses, earliest first.
    var uses = RecordTable<IMSTokenUse>()
    /// The number of uses at which to look for expired ones.
    private var nextSweep = 1000

    init(capacity: Int = IMSTokenUses.standardCapacity) {
        self.capacity = capacity
    }

    var all: [IMSTokenUse] { uses.all }

    var count: Int { uses.count }

    /// Notes a use, unless the token id was used before.
    ///
    /// - Returns: the device of the first use; `nil` when this is the first.
    mutating func use(
        _ tokenID: String, of issuer: String, by device: String, until end: Double, at moment: Double
    ) -> String? {
        let use = IMSTokenUse(issuer: issuer, tokenID: tokenID, device: device, end: end)
        if let known = uses[use.key], moment < known.end { return known.device }
        insert(use)
        if uses.count >= nextSweep || uses.byteCount > Self.byteCapacity { sweep(at: moment) }
        return nil
    }

    mutating func insert(_ use: IMSTokenUse) {
        uses.remove(use.key)
        uses.store(use)
    }

    /// Removes expired uses, and if that is not enough, the earliest tenth.
    private mutating func sweep(at moment: Double) {
        for use in uses.all where use.end <= moment { uses.remove(use.key) }
        if uses.count >= capacity || uses.byteCount > Self.byteCapacity {
            for key in uses.keys.prefix(uses.count / 10 + 1) { uses.remove(key) }
        }
        nextSweep = min(max(1000, uses.count * 2), capacity)
    }
}
