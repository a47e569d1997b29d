import Emulation
import JSON

struct OktaAuthentication: Sendable, Equatable {
    /// `nil` for guests of the sign-in page.
    var userID: String?
    /// The `sub` of a guest.
    var guest: String?
    var moment = Moment(unixSeconds: 0)
    /// Sorted; values of `amr`.
    var methods: [String] = []
    /// The browser's session; `nil` until there is one.
    var sessionID: String?
    var sessionToken: String?

    /// Whether two factors were shown.
    var isStrong: Bool { methods.contains("mfa") }

    /// The same after a further factor. Source of the values: ref; their order: ours.
    func adding(_ method: String) -> OktaAuthentication {
        var authentication = self
        authentication.methods = Set(methods + [method, "mfa"]).sorted()
        return authentication
    }
}

extension OktaAuthentication: CodedRecord, RecordValue {
    mutating func code(_ coder: inout RecordCoder) {
        coder.member("user", &userID)
        coder.member("guest", &guest)
        coder.member("moment", &moment)
        coder.member("methods", &methods, or: [])
        coder.member("session", &sessionID)
        coder.member("session_token", &sessionToken)
        coder.check((userID == nil) != (guest == nil), or: "it is either a user or a guest who signed in")
    }
}
