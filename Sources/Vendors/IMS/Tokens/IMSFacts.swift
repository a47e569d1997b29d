import Emulation
import JSON
import Tokens

/// What a request presents, and what IMS's rules check.
struct IMSFacts: RuleFacts {
    typealias Failure = IMSFailure

    /// What is known of the keys for a token.
    enum Keys {
        /// Nothing, since the issuer is unknown.
        case none
        /// The issuer's keys are unavailable.
        case unavailable(String, note: String)
        /// They have not been requested.
        case unfetched
        /// The token must name its key, but does not.
        case unnamed(String)
        /// The issuer has no key with that name.
        case unknown
        case some(IMSKeyRing.Candidates)
    }

    /// Whether the token's id was used before.
    enum TokenUse {
        case unknown
        /// By a device; whether this is a replay depends on the device that uses it now.
        case first
        case repeated(by: String, now: String)
    }

    /// The user that the token names.
    struct Subject {
        let tenant: String
        let name: String
        /// The user's number and state; `nil` for an unknown user.
        var user: (number: Int, state: IMSUser.State)?
        /// Whether an unknown user gets enrolled.
        var isAdopted = false
        /// The user who may be meant instead.
        var namesake: String?
    }

    /// What an operator's call presents.
    struct Operator {
        let sent: String?
        let authorization: ArraySlice<UInt8>?
    }

    /// What is known before the first rule judges.
    struct Presented {
        let switches: IMSSwitches
        let moment: Moment
        /// The key of the people who onboard and enroll.
        let operatorKey: String
        var bearer: BearerToken?
        var token: IMSToken?
        /// The issuer that `iss` names.
        var issuer: IMSIssuer?
        /// Whether an HMAC was made with the issuer's public key as its secret.
        var isSignedBySecret = false
        var `operator`: Operator?

        init(_ vendor: IMS, _ switches: IMSSwitches, at moment: Moment) {
            operatorKey = vendor.accounts.operatorKey
            (self.switches, self.moment) = (switches, moment)
        }
    }

    /// An object, since a call copies its facts several times, and each copy would count every reference in them.
    private final class SharedPart: Sendable {
        let presented: Presented

        init(_ presented: consuming Presented) {
            self.presented = presented
        }
    }

    private var shared: SharedPart
    /// Needed only to explain failures; released if there are none.
    private(set) var judge: IMSTokenJudge?

    /// Whether a rule failed before the key search, so that nothing looks for the signer.
    var isRefused = false
    var keys = Keys.none
    /// The keys to fetch before the token can be judged.
    var order: KeyRequirement?
    /// Whether a key of the issuer made the signature. Otherwise the token may be forged.
    var isGenuine = false
    /// The owner of the key that made the signature instead, if that is the reason for a refusal.
    var otherSigner: IMSTokenJudge.Signer?
    var tokenUse: TokenUse?
    var subject: Subject?

    var presented: Presented {
        get { shared.presented }
        set { shared = SharedPart(newValue) }
    }
    var switches: IMSSwitches { shared.presented.switches }
    var moment: Moment { shared.presented.moment }
    var operatorKey: String { shared.presented.operatorKey }
    var bearer: BearerToken? { shared.presented.bearer }
    var token: IMSToken? { shared.presented.token }
    var issuer: IMSIssuer? { shared.presented.issuer }
    var isSignedBySecret: Bool { shared.presented.isSignedBySecret }
    var `operator`: Operator? { shared.presented.operator }
    var compact: CompactToken? { token?.compact }

    init(_ presented: consuming Presented, judge: IMSTokenJudge? = nil) {
        shared = SharedPart(presented)
        self.judge = judge
    }

    mutating func dropExplanations() { judge = nil }
}
