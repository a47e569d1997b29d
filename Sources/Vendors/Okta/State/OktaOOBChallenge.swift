import Emulation
import JSON

/// A way to reach a user besides the app that signs in. Source: api.
enum OktaChannel: String, CaseIterable, RecordValue {
    case push, sms, voice

    /// The factor that is reached in this way.
    var factor: OktaFactor.Kind {
        switch self {
        case .push: .push
        case .sms: .sms
        case .voice: .call
        }
    }

    /// The value of `amr`. Source: ref.
    var method: String {
        switch self {
        case .push: "swk"
        case .sms: "sms"
        case .voice: "tel"
        }
    }
}

/// A challenge that was sent to a user's phone.
struct OktaOOBChallenge: OktaTicketContent {
    /// How many seconds lie between two polls. Source: guide:configure-direct-auth-grants.
    static let interval = 5

    /// Client, server and user.
    var authorization = OktaAuthorization()
    var factorID = ""
    var channel = OktaChannel.push
    /// Push: the transaction that the phone answers.
    var transactionID: String?
    /// Push: the number that the user must choose on the phone; `nil` for none.
    var number: String?
    /// The `mfa_token` whose second factor it is; `nil` for a first factor.
    var mfaToken: String?

    /// How the answer gets back. Source: guide:configure-direct-auth-grants.
    var bindingMethod: String {
        switch channel {
        case .push: number == nil ? "none" : "transfer"
        case .sms, .voice: "prompt"
        }
    }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("authorization", &authorization)
        coder.member("factor", &factorID)
        coder.member("channel", &channel)
        coder.member("transaction", &transactionID)
        coder.member("number", &number)
        coder.member("mfa_token", &mfaToken)
    }
}
