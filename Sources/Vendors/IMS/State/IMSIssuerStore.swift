import Emulation
import JSON

/// The issuers of a sandbox, in the order in which they were onboarded.
typealias IMSIssuerStore = RecordTable<IMSIssuer>

extension IMSIssuer: KeyedRecord {
    var key: ExactText { ExactText(record.name) }
    var names: [ExactText] { [ExactText(record.issuer)] }
    var memory: Int { record.byteCount }

    func isSame(as other: IMSIssuer) -> Bool { record == other.record }
}

extension IMSIssuerStore {
    /// ours: a bound, so that onboarding in a loop cannot fill the machine.
    static var capacity: Int { 1000 }
    /// ours: a bound of what the issuers were onboarded with, in bytes.
    static var byteCapacity: Int { 32 * 1024 * 1024 }

    /// The issuer of that exact `iss`.
    func issuer(_ iss: String) -> IMSIssuer? { self[named: ExactText(iss)] }

    /// The issuer of that name.
    func named(_ name: String) -> IMSIssuer? { self[name] }

    /// Whether an issuer may be put there, in the place of the one of its name if there is one.
    func hasRoom(for record: IMSIssuerRecord) -> Bool {
        byteCount - (named(record.name)?.memory ?? 0) + record.byteCount <= Self.byteCapacity
    }

    /// Lists the issuers of these names first, in this order; the others follow as they stood.
    mutating func arrange(_ names: [ExactText]) {
        var order = InsertionOrder<ExactText>()
        for name in names + keys { order.append(name) }
        if order.elementsEqual(keys) { return }
        for issuer in order.compactMap({ self[$0] }) {
            remove(issuer.key)
            store(issuer)
        }
    }

    /// The names of all in their order; empty where they come in that order by themselves.
    var ownOrder: [ExactText] {
        var natural = untouched
        natural.take(changesOf: self)
        return natural.keys == keys ? [] : keys
    }
}
