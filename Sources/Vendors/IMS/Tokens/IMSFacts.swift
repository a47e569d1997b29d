import Emulation
import JSON
import Tokens

/// What a request presents, and what IMS's rules look at.
struct IMSFacts: RuleFacts {
    typealias Failure = IMSFailure

    /// What is known of the keys for a token.
    enum Keys {
        /// Nothing, since nobody knows its issuer.
        case none
        /// The issuer's keys cannot be had.
        case unavailable(String, note: String)
        /// Nobody has asked for them.
        case unfetched
        /// The token has to name its key, which it does not.
        case unnamed(String)
        /// The issuer has no key of the name.
        case unknown
        /// One of those at these places may have made the signature; some may be set aside for their certificates.
        case some([Int], valid: [Int])
    }

    /// Whether the token's id was used before.
    enum TokenUse {
        case unknown
        /// By a device; whether that is a replay depends on the device that uses it now.
        case first
        case repeated(by: String, now: String)
    }

    /// The user whom the token names.
    struct Subject {
        let tenant: String
        let name: String
        /// The user's number and state; `nil` when nobody has the name.
        var user: (number: Int, state: IMSUser.State)?
        /// Whether somebody who is nobody yet is enrolled.
        var isAdopted = false
        /// Who may be meant instead.
        var namesake: String?
    }

    /// What an operator's call presents.
    struct Operator {
        let sent: String?
        let authorization: ArraySlice<UInt8>?
    }

    let switches: IMSSwitches
    let moment: Moment
    /// The key of the people who onboard and enroll.
    let operatorKey: String
    /// Explains failures alone; let go of where there are none.
    private(set) var judge: IMSTokenJudge?

    var bearer: BearerToken?
    var token: IMSToken?
    /// The issuer that `iss` names.
    var issuer: IMSIssuer?
    /// Whether an HMAC was made with the issuer's public key as its secret.
    var isSignedBySecret = false
    /// Whether a rule was broken before the keys were looked for, so that nobody asks who signed.
    var isRefused = false
    var keys = Keys.none
    /// The keys that have to be asked for before the token can be judged.
    var order: KeyRequirement?
    /// Whether a key of the issuer made the signature. Everything but this leaves a forged token possible.
    var isGenuine = false
    /// Whose key made the signature instead, where that is the reason of a refusal.
    var otherSigner: IMSTokenJudge.Signer?
    var tokenUse: TokenUse?
    var subject: Subject?
    var `operator`: Operator?

    var compact: CompactToken? { token?.compact }

    init(_ vendor: IMS, _ switches: IMSSwitches, at moment: Moment, judge: IMSTokenJudge? = nil) {
        operatorKey = vendor.accounts.operatorKey
        (self.switches, self.moment, self.judge) = (switches, moment, judge)
    }

    mutating func dropExplanations() { judge = nil }
}
