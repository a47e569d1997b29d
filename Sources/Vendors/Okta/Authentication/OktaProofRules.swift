import Emulation
import JSON
import Tokens

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

extension OktaProofFacts {
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
