import Emulation
import JSON

/// An id that may be used once, such as the `jti` of an assertion.
struct OktaUsedID: Sendable, Equatable {
    enum Kind: String, CaseIterable, RecordValue { case assertion, proof, ssws }

    struct Key: Hashable, Sendable, CustomStringConvertible {
        let kind: Kind
        let owner: ExactText
        let id: ExactText

        var description: String { JSON.array([kind.written, owner.json, id.json]).text }
    }

    var kind = Kind.assertion
    /// Whose ids are told apart: a client, a key's thumbprint, a factor.
    var owner = ""
    var id = ""
    /// When it need not be remembered any more.
    var until = Moment(unixSeconds: 0)
}

extension OktaUsedID: KeyedRecord, CodedRecord {
    var key: Key { Key(kind: kind, owner: ExactText(owner), id: ExactText(id)) }

    func clash(over name: Never?) -> String { "\(id) occurs twice" }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("kind", &kind)
        coder.member("owner", &owner)
        coder.member("id", &id)
        coder.end("until", &until)
    }
}
