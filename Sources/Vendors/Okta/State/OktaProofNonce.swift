import Emulation
import JSON

/// A nonce that proofs repeat, so that they cannot be made long before they are used (RFC 9449 section 8).
struct OktaProofNonce: Sendable, Equatable {
    /// How long it is the current one. Source: guide:dpop.
    static let renewal = Duration.seconds(24 * 3600)
    /// How long it is accepted. Source: guide:dpop.
    static let lifetime = Duration.seconds(3 * 24 * 3600)
    /// ours: four are good at a time, unless the clock is moved back and forth.
    static let bound = RecordBound(count: 8, share: nil)

    var id = ""
    var issued = Moment(unixSeconds: 0)
}

extension OktaProofNonce: KeyedRecord, CodedRecord {
    var key: ExactText { ExactText(id) }

    func clash(over name: Never?) -> String { "the nonce \(id) occurs twice" }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("issued", &issued)
    }
}

extension OktaState {
    /// The nonces that are good at a moment, the newest one last.
    func goodNonces(at moment: Moment) -> [String] {
        proofNonces.all.filter { moment < $0.issued + OktaProofNonce.lifetime }.map(\.id)
    }

    /// The nonces that are good at a moment, the current one last.
    mutating func proofNonces(at moment: Moment, _ identifiers: IdentifierSource) -> [String] {
        var good = proofNonces.all.filter { moment < $0.issued + OktaProofNonce.lifetime }
        if let newest = good.last, moment < newest.issued + OktaProofNonce.renewal { return good.map(\.id) }
        // Source of the length: guide:dpop.
        let nonce = OktaProofNonce(id: identifiers.opaque(ofLength: 32), issued: moment)
        proofNonces.add(nonce, within: OktaProofNonce.bound)
        good.append(nonce)
        return good.map(\.id)
    }
}
