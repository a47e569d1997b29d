import Emulation
import JSON

/// An authorization that tokens were made from: it ends them together.
struct OktaGrant: Sendable, Equatable {
    /// Unique in the sandbox.
    var number = 0
    var authorization = OktaAuthorization()
    var began = Moment(unixSeconds: 0)
    /// Whether its tokens have ended.
    var isRevoked = false

    /// Whether the other one is this grant, at whatever time.
    func isSame(as other: OktaGrant) -> Bool {
        number == other.number && authorization == other.authorization && began == other.began
    }
}

extension OktaGrant: KeyedRecord, CodedRecord {
    var key: Int { number }
    /// The grants of a user end together, as when the user is deactivated.
    var group: ExactText? { authorization.userID.map(ExactText.init) }
    var memory: Int { authorization.memory }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("number", &number, in: 1...Ordinal.largest)
        coder.member("authorization", &authorization)
        coder.member("began", &began)
        coder.member("revoked", &isRevoked, or: false)
    }
}

/// An access token that was issued; the token itself is a JWT, and only its id is kept.
struct OktaIssuedToken: Sendable, Equatable {
    /// Its `jti`.
    var id = ""
    var grant = 0
    var expires = Moment(unixSeconds: 0)
    var isRevoked = false
}

extension OktaIssuedToken: KeyedRecord, CodedRecord {
    var key: ExactText { ExactText(id) }
    var group: Int? { grant }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("grant", &grant)
        coder.end("expires", &expires)
        coder.member("revoked", &isRevoked, or: false)
    }
}
