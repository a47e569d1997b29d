import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// A proof that the sender of a request has a private key (RFC 9449 section 4.2).
final class OktaProof: Sendable {
    /// Source: ref.
    static let algorithms: [Algorithm] = [.rs256, .rs384, .rs512, .es256, .es384, .es512]

    let compact: CompactToken
    let key: OktaProofKey

    init(bytes: [UInt8]) {
        compact = CompactToken(bytes: bytes)
        key = OktaProofKey.of(compact)
    }

    /// The proof of a request; `nil` without one, and for several, of which none counts.
    convenience init?(_ fields: FieldLines) {
        guard !fields.isRepeated(.dpop), let bytes = fields.bytes(of: .dpop) else { return nil }
        self.init(bytes: Array(bytes))
    }

    var algorithm: Algorithm? { compact.namedAlgorithm(among: Self.algorithms) }

    /// The id with which each proof of a key is used once.
    var id: String? { compact.claims?["jti"]?.string }
}

enum OktaProofKey: Sendable {
    case absent
    /// What is there cannot verify anything, or is not public.
    case unusable(KeyError)
    /// - Parameter thumbprint: as in `cnf.jkt` of bound tokens (RFC 9449 section 6.1).
    case usable(VerificationKey, thumbprint: String)

    /// A client sends the same header with each proof, and reading a key takes longer than finding it here.
    private static let recent = RecentReadings<OktaProofKey>()

    static func of(_ token: CompactToken) -> OktaProofKey {
        guard let jwk = token.header?["jwk"] else { return .absent }
        return recent.reading(of: token.bytes.prefix { $0 != UInt8(ascii: ".") }) { _ in
            do throws(KeyError) {
                let key = try VerificationKey.jwk(jwk)
                // Only secrets have no thumbprint, and they are refused.
                guard let thumbprint = key.thumbprint else { throw KeyError.sharedSecret }
                return .usable(key, thumbprint: thumbprint)
            } catch {
                return .unusable(error)
            }
        }
    }

    var thumbprint: String? { if case .usable(_, let thumbprint) = self { thumbprint } else { nil } }
}

struct OktaProofFacts: OktaRuleFacts {
    struct Access: Sendable {
        let isUnderDPoP: Bool
        /// The thumbprint of the key that it is bound to; `nil` for none.
        let boundKey: String?
        /// What `ath` has to be (RFC 9449 section 4.2).
        let hash: String
        let token: [UInt8]
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

    /// The nonces that are valid now, the newest last.
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
    var addresses: [String] { sandbox.addresses.map { $0 + path } }

    fileprivate func judge(_ boundKey: String, _ finding: inout Finding?) -> Finding.Outcome? {
        guard let proof else { return nil }
        finding?.expected = .text("the key with the thumbprint \(boundKey)")
        guard let thumbprint = proof.key.thumbprint else { return .notJudged }
        if finding != nil, let digest = try? Base64URL.decode(thumbprint.utf8) {
            // A thumbprint is always base64url.
            finding?.note = DerivedValue.mistake(in: boundKey, digest: digest)
        }
        return finding.judge(.text("the key with the thumbprint \(thumbprint)"), thumbprint.hasSameBytes(as: boundKey))
    }

    fileprivate func judgeKey(_ finding: inout Finding?) -> Finding.Outcome? {
        guard let proof, proof.compact.header != nil else { return nil }
        switch proof.key {
        case .absent: return finding.judge(.nothing("no jwk"), false)
        case .unusable(let error):
            if error == .privateKey { finding?.note = "The private key is known to everybody who saw the proof." }
            return finding.judge(.text("\(error)"), false)
        case .usable(let key, _):
            finding?.found = .text("\(key)")
            // Another algorithm has a rule of its own.
            guard let algorithm = proof.algorithm, !key.algorithms.contains(algorithm) else { return .passed }
            finding?.note = "It cannot be used with \(algorithm.rawValue)."
            return .failed
        }
    }
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

extension Okta {
    /// Judges as much as needs no state, above all the signature. Access tokens are known by then.
    func judgeProof(of arrival: OktaArrival, _ credentials: inout OktaCredentials) {
        switch arrival.route.access {
        case .client(.tokens):
            guard let client = credentials.client else { return }
            let isBound = arrival.switches.optionalProof == .bind && arrival.request.fields.bytes(of: .dpop) != nil
            guard client.bindsTokens || isBound else { return }
            credentials.proof = OktaProofCheck(OktaProofFacts(arrival), by: OktaProofRules.tokens)
        case .bearer, .api:
            guard let access = OktaProofFacts.Access(arrival, credentials.claims) else { return }
            credentials.proof = OktaProofCheck(OktaProofFacts(arrival, beside: access), by: OktaProofRules.resources)
        case .open, .published, .browser, .signIn, .client, .device: return
        }
    }

    /// Judges the rest, and notes that the proof was used unless anything about the request was wrong.
    func judgeProof(_ call: inout OktaCall, _ state: inout OktaState) {
        let refreshKey = Self.refreshKey(of: call, in: state)
        // A bound refresh token stays bound, even if its client needs no proofs any more.
        let bound = refreshKey.map { _ in OktaProofCheck(OktaProofFacts(call.arrival), by: OktaProofRules.tokens) }
        guard let check = call.credentials.proof ?? bound else { return }
        var (facts, outcomes) = (check.facts, check.outcomes)
        facts.refreshKey = refreshKey
        let use = facts.proof.flatMap { OktaUsedID($0, at: call.moment) }
        if let use { facts.isReplayed = state.isUsed(use.kind, use.id, of: use.owner, at: call.moment) }
        let nonce = facts.access == nil ? call.switches.tokenNonce : call.switches.resourceNonce
        if nonce == .require, facts.proof != nil { facts.nonces = state.proofNonces(at: call.moment, call.identifiers) }
        check.rules.judgeLater(&facts, &outcomes)
        call.findings.record(facts, outcomes, by: check.rules)
        guard call.findings.failure == nil else { return }
        if let use { state.usedIDs.add(use, within: OktaState.bound) }
        // A client that still uses an earlier nonce gets the current one (RFC 9449 section 8.2).
        guard let current = facts.nonces.last, let sent = facts.compact?.claims?["nonce"]?.string else { return }
        if !sent.hasSameBytes(as: current) { call.answerFields[.dpopNonce] = current }
    }

    /// The thumbprint that the presented refresh token of the client is bound to.
    private static func refreshKey(of call: OktaCall, in state: OktaState) -> String? {
        let parameters = call.credentials.parameters.unnoted
        guard call.route.access == .client(.tokens), let client = call.credentials.client,
            parameters["grant_type"]?.hasSameBytes(as: OktaGrantType.refreshToken.rawValue) == true,
            let token = parameters["refresh_token"].flatMap({ state.refreshTokens[$0] }),
            let authorization = state.grants[token.grant]?.authorization,
            authorization.clientID.hasSameBytes(as: client.id)
        else { return nil }
        return authorization.proofKey
    }
}

extension OktaProofFacts.Access {
    /// The access token of a request; `nil` when a proof has nothing to do with it.
    ///
    /// - Parameter claims: the token's, trusted or not.
    fileprivate init?(_ arrival: OktaArrival, _ claims: JSONObject?) {
        guard let claims else { return nil }
        let boundKey = claims["cnf"]?["jkt"]?.string
        let fields = arrival.request.fields
        // Nearly all tokens are unbound ones under Bearer, as the first letter shows.
        guard boundKey != nil || fields.bytes(of: .authorization)?.first.map({ $0 | 0x20 }) == UInt8(ascii: "d")
        else { return nil }
        let bearer = BearerToken(fields, orOf: "dpop")
        guard boundKey != nil || bearer.usesOtherScheme, let token = bearer.bytes else { return nil }
        (isUnderDPoP, self.boundKey) = (bearer.usesOtherScheme, boundKey)
        self.token = Array(token)
        hash = Base64URL.encode(Digest.sha256(self.token))
    }
}

extension OktaUsedID {
    /// ours: proofs are too old after 300 s, and may come 60 s too early.
    private static let proofMemory = Duration.seconds(600)

    /// The use of a proof; `nil` for a proof without an id or a key.
    fileprivate init?(_ proof: OktaProof, at moment: Moment) {
        guard let id = proof.id, let thumbprint = proof.key.thumbprint else { return nil }
        self.init(kind: .proof, owner: thumbprint, id: id, until: moment + Self.proofMemory)
    }
}

private typealias Rule = TokenRule<OktaProofFacts>

/// The rules of DPoP proofs, in the order of the checks.
///
/// Source: the failures are documented (codes), the rules as well (guide:dpop, RFC 9449 section 4.3). The order is ours:
/// the nonce comes before `jti`, since the first proof of the guide has none.
enum OktaProofRules {
    private static let rfc = "RFC 9449 section 4.3"
    private static let rfcOfTokens = "RFC 9449 section 7.1"

    /// At the token endpoint.
    static let tokens = RuleList(
        [
            Rule("proof-present", "one header field DPoP", "guide:dpop", orFail: .dpopMissing) { facts, finding in
                finding.judge(.count(facts.lineCount), facts.lineCount > 0)
            }
        ] + form + binding + times,
        later: [
            nonce(source: "guide:dpop; switch dpop-nonce").when { $0.switches.tokenNonce == .require }
        ] + use + [
            Rule(
                "proof-refresh-key", "the key that the refresh token is bound to", "guide:dpop", orFail: .dpopRefreshKey
            ) { facts, finding in facts.refreshKey.flatMap { facts.judge($0, &finding) } }
        ])

    /// Beside an access token. A nonce is not needed there, unless the switch says so.
    static let resources = RuleList(
        access + form + binding + times,
        later: [
            nonce(source: "RFC 9449 section 9; switch dpop-resource-nonce").when {
                $0.switches.resourceNonce == .require
            }
        ] + use + [
            Rule("proof-ath", "the SHA-256 of the access token", rfc, orFail: .dpopATH) { facts, finding in
                guard let token = facts.compact, let access = facts.access else { return nil }
                let outcome = token.claim("ath", equals: access.hash, &finding)
                if outcome == .failed, finding != nil, let found = token.claims?["ath"]?.string {
                    finding?.note = DerivedValue.mistake(in: found, of: access.token)
                }
                return outcome
            },
            Rule(
                "proof-access-key", "the key that the access token is bound to", rfcOfTokens, orFail: .dpopKeyMismatch
            ) { facts, finding in
                facts.access?.boundKey.flatMap { facts.judge($0, &finding) }
            },
        ])

    // MARK: - The access token and its scheme

    private static let access = [
        Rule("proof-scheme", "Authorization: DPoP TOKEN, for a token with cnf.jkt", rfcOfTokens, orFail: .dpopScheme) {
            facts, finding in
            guard let access = facts.access, access.boundKey != nil else { return nil }
            return finding.judge(
                .text("Authorization: \(access.isUnderDPoP ? "DPoP" : "Bearer") TOKEN"), access.isUnderDPoP)
        },
        Rule("proof-required", "one header field DPoP", rfcOfTokens, orFail: .dpopProofRequired) { facts, finding in
            guard let access = facts.access, access.isUnderDPoP, access.boundKey != nil else { return nil }
            return finding.judge(.count(facts.lineCount), facts.lineCount > 0)
        },
        Rule("proof-token-bound", "a token with cnf.jkt under DPoP", rfcOfTokens, orFail: .dpopNotBound) {
            facts, finding in
            guard let access = facts.access, access.isUnderDPoP else { return nil }
            return finding.judge(
                access.boundKey.map { .text("cnf.jkt \($0)") } ?? .nothing("no cnf.jkt"), access.boundKey != nil)
        },
    ]

    // MARK: - The proof can be verified

    private static let form =
        [
            Rule("proof-once", "one header field DPoP", rfc, orFail: .dpopMultiple) { facts, finding in
                facts.lineCount > 0 ? finding.judge(.count(facts.lineCount), facts.lineCount == 1) : nil
            }
        ] + Rule.structure(orFail: .dpopMalformed, named: "proof-") + [
            Rule(.critical(), named: "proof-critical", orFail: .dpopMalformed),
            Rule(
                .type(is: "dpop+jwt", required: true, source: "RFC 9449 section 4.2"), named: "proof-type",
                orFail: .dpopTyp),
            Rule("proof-algorithm", expects: .algorithms(OktaProof.algorithms), source: "ref", orFail: .dpopAlgorithm) {
                facts, finding in
                guard let proof = facts.proof, let header = proof.compact.header else { return nil }
                return finding.judge(header["alg"].map(Fact.json) ?? .absent, proof.algorithm != nil)
            },
            Rule("proof-key", "jwk with the public part of a key that fits alg", rfc, .inferred, orFail: .dpopKey) {
                facts, finding in facts.judgeKey(&finding)
            },
            Rule("proof-signature", "a signature by the key in jwk", rfc, orFail: .dpopSignature) { facts, finding in
                guard let proof = facts.proof else { return nil }
                guard case .usable(let key, _) = proof.key, let algorithm = proof.algorithm else { return .notJudged }
                return proof.compact.signature(by: key, algorithm: algorithm, &finding)
            },
        ]

    // MARK: - It is for this request

    private static let binding = [
        Rule("proof-htm", "the method of the request", rfc, orFail: .dpopHTM) { facts, finding in
            facts.compact?.claim("htm", equals: facts.method.rawValue, &finding)
        },
        Rule(
            "proof-htu", "the address of the request, without query and fragment",
            "RFC 9449 section 4.3; accepted forms ours", orFail: .dpopHTU
        ) { facts, finding in
            let addresses = facts.addresses
            finding?.expected = .anyOf(addresses)
            return facts.compact?.claim("htu", &finding) { value in
                guard let text = value?.string, let address = OktaAddress(text) else { return false }
                return addresses.contains { OktaAddress($0) == address }
            }
        },
    ]

    // MARK: - It is of now

    private static let times =
        [Rule(.claim("iat", is: .number, source: "RFC 9449 section 4.2"), named: "proof-iat", orFail: .dpopIAT)]
        + [
            Rule("proof-future", "iat at most 60 s ahead", "codes; number ours", orFail: .dpopFuture) {
                facts, finding in
                facts.compact?.notBefore(
                    at: facts.moment.unixSeconds, claim: "iat", TimeRules(leeway: 60, required: false), &finding)
            },
            Rule("proof-age", "iat at most 300 s ago", "codes", orFail: .dpopTooOld) { facts, finding in
                guard let token = facts.compact else { return nil }
                guard let issued = token.date("iat").seconds() else { return .notJudged }
                let least = facts.moment.unixSeconds - 300
                finding?.expected = .text("no earlier than \(Fact.time(least))")
                return finding.judge(.time(issued), issued >= least)
            },
            Rule("proof-expiry", "exp later than now, or none", "codes", orFail: .dpopExpired) { facts, finding in
                guard let token = facts.compact, token.date("exp").form != .absent else { return nil }
                return token.expiry(at: facts.moment.unixSeconds, &finding)
            },
        ].map { rule in rule.when { $0.switches.proofTime == .enforce } }

    // MARK: - It is used once

    private static func nonce(source: String) -> Rule {
        Rule(
            "proof-nonce", expects: .text("a nonce that the server gave in dpop-nonce, less than three days ago"),
            source: source, orFail: [.dpopNonce],
            by: { Okta.Refused(.dpopNonce, $0.nonces.last.map { ["nonce": .string($0)] } ?? [:]) }
        ) { facts, finding in
            guard let token = facts.compact else { return nil }
            let nonce = token.claims?["nonce"]
            return finding.judge(
                nonce.map(Fact.json) ?? .absent, facts.nonces.contains { nonce?.string?.hasSameBytes(as: $0) == true })
        }
    }

    private static let use = [
        Rule("proof-jti", "a text of 1 to 255 characters", "RFC 9449 section 4.2; length ours", orFail: .dpopJTI) {
            facts, finding in
            guard let token = facts.compact else { return nil }
            let id = token.claims?["jti"]
            return finding.judge(
                id.map(Fact.json) ?? .absent, (1...255).contains(id?.string?.unicodeScalars.count ?? 0))
        },
        Rule(
            "proof-replay", "a jti that the key has not used in the last 600 s", "codes; time ours",
            orFail: .dpopReplayed
        ) { facts, finding in
            guard let proof = facts.proof, let id = proof.id else { return nil }
            return finding.judge(.text(facts.isReplayed ? "\(id), which it has used" : id), !facts.isReplayed)
        },
    ]
}
