import Emulation
import JSON

/// The issuers of a sandbox, in the order in which they were onboarded.
typealias IMSIssuerStore = RecordTable<IMSIssuer>

extension IMSIssuer: KeyedRecord {
    var key: ExactText { ExactText(record.name) }
    var names: [ExactText] { [ExactText(record.issuer)] }
    var memory: Int { record.source.byteCount + record.issuer.utf8.count + 512 }

    func isSame(as other: IMSIssuer) -> Bool { record == other.record }
}

extension IMSIssuerStore {
    func issuer(_ iss: String) -> IMSIssuer? { self[named: ExactText(iss)] }

    /// The issuer that a token's `iss` names, in the sandbox where the token is sent: `iss` is compared byte for byte,
    /// and an issuer that is onboarded as `{base}/…` has the address of this server.
    func issuer(_ iss: String, in sandbox: SandboxIdentity) -> IMSIssuer? {
        if iss.hasPrefix(PublicBase.placeholder) { return nil }
        return issuer(iss) ?? sandbox.publicBase.general(iss, of: sandbox.name).flatMap { issuer($0) }
    }

    func named(_ name: String) -> IMSIssuer? { self[name] }

    /// Lists the issuers with these names first, in this order; the others follow in their current order.
    mutating func arrange(_ names: [ExactText]) {
        var order = InsertionOrder<ExactText>()
        for name in names + keys { order.append(name) }
        if order.elementsEqual(keys) { return }
        for issuer in order.compactMap({ self[$0] }) {
            remove(issuer.key)
            store(issuer)
        }
    }

    /// All names in order; empty if that is the natural order.
    var ownOrder: [ExactText] {
        var natural = untouched
        natural.take(changesOf: self)
        return natural.keys == keys ? [] : keys
    }
}
