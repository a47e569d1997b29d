import Emulation
import HTTPTypes
import JSON
import Tokens

/// A proof, and what it has to fit.
struct OktaProofFacts: RuleFacts {
    typealias Failure = OktaFailure

    /// The access token beside a proof.
    struct Access: Sendable {
        /// Whether it came under the scheme `DPoP`.
        let isUnderDPoP: Bool
        /// The thumbprint of the key that it is bound to; `nil` for none.
        let boundKey: String?
        /// What `ath` has to be (RFC 9449 section 4.2).
        let hash: String
    }

    let switches: OktaSwitches
    let moment: Moment
    let method: HTTPRequest.Method
    let path: String
    let sandbox: SandboxIdentity
    /// How many lines `DPoP` the request has.
    let lineCount: Int
    let proof: OktaProof?
    /// `nil` at the token endpoint.
    let access: Access?

    // What only the state knows.

    /// The nonces that are good now, the newest last.
    var nonces: [String] = []
    /// Whether the key has signed a proof with the same id before.
    var isReplayed = false
    /// The thumbprint that the presented refresh token is bound to.
    var refreshKey: String?

    init(_ arrival: OktaArrival, beside access: Access? = nil) {
        (switches, moment) = (arrival.switches, arrival.moment)
        (method, path) = (arrival.request.method, String(arrival.request.path))
        sandbox = arrival.sandbox
        lineCount = arrival.request.fields.count(of: .dpop)
        proof = OktaProof(arrival.request.fields)
        self.access = access
    }

    var compact: CompactToken? { proof?.compact }

    /// The addresses that `htu` may name: those of the request in each form in which clients select the sandbox.
    var addresses: [String] { sandbox.publicBase.addresses(of: sandbox.name).map { $0 + path } }
}

/// A proof that was judged as far as that is possible without the state.
///
/// A class, since few requests have one, and what they present is copied often.
final class OktaProofCheck: Sendable {
    let rules: RuleList<OktaProofFacts>
    let facts: OktaProofFacts
    let outcomes: RuleOutcomes

    init(_ facts: OktaProofFacts, by rules: RuleList<OktaProofFacts>) {
        var (facts, outcomes) = (facts, RuleOutcomes())
        rules.judgeFirst(&facts, &outcomes)
        (self.rules, self.facts, self.outcomes) = (rules, facts, outcomes)
    }
}
