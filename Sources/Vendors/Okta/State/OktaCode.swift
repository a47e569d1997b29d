import Emulation
import JSON

/// An authorization code.
struct OktaCode: Sendable, Equatable {
    /// How long it can be redeemed. Source: ref.
    static let lifetime = Duration.seconds(300)

    var id = ""
    var authorization = OktaAuthorization()
    var redirectURI = ""
    /// The PKCE challenge (S256); `nil` when the client sent none.
    var challenge: String?
    var issued = Moment(unixSeconds: 0)
    /// The grant made from it; `nil` while it is unused.
    var grant: Int?
}

extension OktaCode: KeyedRecord, CodedRecord {
    var key: ExactText { ExactText(id) }
    var secretText: String? { id }
    var memory: Int { authorization.memory + redirectURI.utf8.count + (challenge?.utf8.count ?? 0) }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("authorization", &authorization)
        coder.member("redirect_uri", &redirectURI)
        coder.member("challenge", &challenge)
        coder.member("issued", &issued)
        coder.member("grant", &grant, in: 1...Ordinal.largest)
    }
}
