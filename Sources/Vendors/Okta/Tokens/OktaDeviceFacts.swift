import Emulation
import JSON
import Tokens

/// What a device presents with its answer to a challenge, and what its rules check.
struct OktaDeviceFacts: RuleFacts {
    typealias Failure = OktaFailure

    let presented: OktaSSWS
    let compact: CompactToken?
    let moment: Moment
    let profile: OktaSwitches.SSWSProfile
    /// Whether it is the organization's API token.
    let isAPIToken: Bool

    // What the path names, known with the state.

    var path = Path()
    /// The factor of the path, if it is the user's.
    var factor: OktaFactor?
    var key: VerificationKey?
    /// What `aud` may say.
    var audiences: [String] = []
    var transaction: OktaTransaction?
    /// Whether the factor's device used the `jti` before.
    var isUsed = false

    struct Path {
        /// The user's id; the text of the path if nobody has it.
        var user = ""
        var factor = ""
        var transaction = ""
    }

    init(_ presented: OktaSSWS, _ accounts: OktaAccounts, _ switches: OktaSwitches, at moment: Moment) {
        self.presented = presented
        compact = presented.text.map { CompactToken($0) }
        isAPIToken = presented.text?.hasSameBytes(as: accounts.apiToken) == true
        profile = switches.sswsProfile
        self.moment = moment
    }

    /// Finds what the path names.
    mutating func find(_ call: OktaCall, in state: OktaState) {
        let named = Path(
            user: call.parameters["user"], factor: call.parameters["factor"],
            transaction: call.parameters["transaction"])
        find(named, of: call.arrival.sandbox, in: state)
    }

    /// Finds the user, factor and transaction with these ids; the user may be named by login.
    mutating func find(_ named: Path, of sandbox: SandboxIdentity, in state: OktaState) {
        path = named
        let user = state.user(named.user)
        if let user { path.user = user.id }
        audiences = sandbox.publicBase.addresses(of: sandbox.name).flatMap { base in
            let host = OktaHost(of: base)
            return [host.authority, host.name, base]
        }
        guard let user, let factor = state.factor(path.factor, of: user.id), factor.kind == .push else { return }
        self.factor = factor
        key = factor.verificationKey
        transaction = state.transaction(path.transaction, of: factor)
        if let id = compact?.claims?["jti"]?.string {
            isUsed = state.isUsed(.ssws, id, of: factor.id, at: moment)
        }
    }

    var algorithms: [Algorithm] {
        switch profile {
        case .oktaVerify: [.rs256]
        case .devices: [.rs256, .es256]
        }
    }

    /// The longest life of a token in seconds; the validator page's sample truncates two readings of the clock, hence
    /// one more.
    var longestLife: Double {
        switch profile {
        case .oktaVerify: 61
        case .devices: 300
        }
    }
}
