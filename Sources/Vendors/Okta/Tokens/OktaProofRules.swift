import Emulation
import JSON
import Tokens

private typealias Rule = TokenRule<OktaProofFacts>

/// The rules of DPoP proofs, in the order of the checks.
///
/// Source: the failures are documented (codes), the rules as well (guide:dpop, RFC 9449 section 4.3). The order is ours:
/// the nonce comes before `jti`, since the first proof of the guide has none.
enum OktaProofRules {
    /// At the token endpoint.
    static let tokens = RuleList(
        [
            Rule(
                "proof-present", expects: .text("one header field DPoP"), source: "guide:dpop", orFail: .dpopMissing
            ) { facts, finding in
                finding?.found = .count(facts.lineCount)
                return facts.lineCount == 0 ? .failed : .passed
            }
        ] + form + binding + times,
        later: [
            nonce(source: "guide:dpop; switch dpop-nonce").when { $0.switches.tokenNonce == .require }
        ] + use + [
            Rule(
                "proof-refresh-key", expects: .text("the key that the refresh token is bound to"), source: "guide:dpop",
                orFail: .dpopRefreshKey
            ) { facts, finding in
                facts.refreshKey.flatMap { facts.judge($0, &finding) }
            }
        ])

    /// Beside an access token. A nonce is not needed there, unless the switch says so.
    static let resources = RuleList(
        access + form + binding + times,
        later: [
            nonce(source: "RFC 9449 section 9; switch dpop-resource-nonce").when {
                $0.switches.resourceNonce == .require
            }
        ] + use + [
            Rule(
                "proof-ath", expects: .text("the SHA-256 of the access token"), source: "RFC 9449 section 4.3",
                orFail: .dpopATH
            ) { facts, finding in
                guard let token = facts.compact, let access = facts.access else { return nil }
                return token.claim("ath", equals: access.hash, &finding)
            },
            Rule(
                "proof-access-key", expects: .text("the key that the access token is bound to"),
                source: "RFC 9449 section 7.1", orFail: .dpopKeyMismatch
            ) { facts, finding in
                facts.access?.boundKey.flatMap { facts.judge($0, &finding) }
            },
        ])

    // MARK: - The access token and its scheme

    private static let access = [
        Rule(
            "proof-scheme", expects: .text("Authorization: DPoP TOKEN, for a token with cnf.jkt"),
            source: "RFC 9449 section 7.1", orFail: .dpopScheme
        ) { facts, finding in
            guard let access = facts.access, access.boundKey != nil else { return nil }
            finding?.found = .text("Authorization: \(access.isUnderDPoP ? "DPoP" : "Bearer") TOKEN")
            return access.isUnderDPoP ? .passed : .failed
        },
        Rule(
            "proof-required", expects: .text("one header field DPoP"), source: "RFC 9449 section 7.1",
            orFail: .dpopProofRequired
        ) { facts, finding in
            guard let access = facts.access, access.isUnderDPoP, access.boundKey != nil else { return nil }
            finding?.found = .count(facts.lineCount)
            return facts.lineCount == 0 ? .failed : .passed
        },
        Rule(
            "proof-token-bound", expects: .text("a token with cnf.jkt under DPoP"), source: "RFC 9449 section 7.1",
            orFail: .dpopNotBound
        ) { facts, finding in
            guard let access = facts.access, access.isUnderDPoP else { return nil }
            finding?.found = access.boundKey.map { .text("cnf.jkt \($0)") } ?? .nothing("no cnf.jkt")
            return access.boundKey == nil ? .failed : .passed
        },
    ]

    // MARK: - The proof can be verified

    private static let form =
        [
            Rule(
                "proof-once", expects: .text("one header field DPoP"), source: "RFC 9449 section 4.3",
                orFail: .dpopMultiple
            ) { facts, finding in
                guard facts.lineCount > 0 else { return nil }
                finding?.found = .count(facts.lineCount)
                return facts.lineCount > 1 ? .failed : .passed
            }
        ] + Rule.structure(orFail: .dpopMalformed, named: "proof-") + [
            Rule(.critical(), named: "proof-critical", orFail: .dpopMalformed),
            Rule(
                .type(is: "dpop+jwt", required: true, source: "RFC 9449 section 4.2"), named: "proof-type",
                orFail: .dpopTyp),
            Rule(
                "proof-algorithm", expects: .algorithms(OktaProof.algorithms), source: "ref", orFail: .dpopAlgorithm
            ) { facts, finding in
                guard let proof = facts.proof, let header = proof.compact.header else { return nil }
                finding?.found = header["alg"].map(Fact.json) ?? .absent
                return proof.algorithm == nil ? .failed : .passed
            },
            Rule(
                "proof-key", expects: .text("jwk with the public part of a key that fits alg"),
                source: "RFC 9449 section 4.3", .inferred, orFail: .dpopKey
            ) { facts, finding in facts.judgeKey(&finding) },
            Rule(
                "proof-signature", expects: .text("a signature by the key in jwk"), source: "RFC 9449 section 4.3",
                orFail: .dpopSignature
            ) { facts, finding in
                guard let proof = facts.proof else { return nil }
                guard case .usable(let key, _) = proof.key, let algorithm = proof.algorithm else { return .notJudged }
                return proof.compact.signature(by: key, algorithm: algorithm, &finding)
            },
        ]

    // MARK: - It is for this request

    private static let binding = [
        Rule(
            "proof-htm", expects: .text("the method of the request"), source: "RFC 9449 section 4.3", orFail: .dpopHTM
        ) { facts, finding in facts.compact?.claim("htm", equals: facts.method.rawValue, &finding) },
        Rule(
            "proof-htu", expects: .text("the address of the request, without query and fragment"),
            source: "RFC 9449 section 4.3; accepted forms ours", orFail: .dpopHTU
        ) { facts, finding in facts.judgeAddress(&finding) },
    ]

    // MARK: - It is of now

    private static let times =
        [Rule(.claim("iat", is: .number, source: "RFC 9449 section 4.2"), named: "proof-iat", orFail: .dpopIAT)]
        + [
            Rule(
                "proof-future", expects: .text("iat at most 60 s ahead"), source: "codes; number ours",
                orFail: .dpopFuture
            ) { facts, finding in
                facts.compact?.notBefore(
                    at: facts.moment.unixSeconds, claim: "iat", TimeRules(leeway: 60, required: false), &finding)
            },
            Rule(
                "proof-age", expects: .text("iat at most 300 s ago"), source: "codes", orFail: .dpopTooOld
            ) { facts, finding in
                guard let token = facts.compact else { return nil }
                guard let issued = token.date("iat").seconds() else { return .notJudged }
                let least = facts.moment.unixSeconds - 300
                finding?.expected = .text("no earlier than \(Fact.time(least))")
                finding?.found = .time(issued)
                return issued < least ? .failed : .passed
            },
            Rule(
                "proof-expiry", expects: .text("exp later than now, or none"), source: "codes", orFail: .dpopExpired
            ) { facts, finding in
                guard let token = facts.compact, token.date("exp").form != .absent else { return nil }
                return token.expiry(at: facts.moment.unixSeconds, TimeRules(), &finding)
            },
        ].map { rule in rule.when { $0.switches.proofTime == .enforce } }

    // MARK: - It is used once

    private static func nonce(source: String) -> Rule {
        Rule(
            "proof-nonce", expects: .text("a nonce that the server gave in dpop-nonce, less than three days ago"),
            source: source, orFail: [.dpopNonce],
            by: { Refusal(.dpopNonce, $0.nonces.last.map { ["nonce": .string($0)] } ?? [:]) }
        ) { facts, finding in
            guard let token = facts.compact else { return nil }
            let nonce = token.claims?["nonce"]
            finding?.found = nonce.map(Fact.json) ?? .absent
            guard let text = nonce?.string else { return .failed }
            return facts.nonces.contains { $0.hasSameBytes(as: text) } ? .passed : .failed
        }
    }

    private static let use = [
        Rule(
            "proof-jti", expects: .text("a text of 1 to 255 characters"), source: "RFC 9449 section 4.2; length ours",
            orFail: .dpopJTI
        ) { facts, finding in
            guard let token = facts.compact else { return nil }
            let id = token.claims?["jti"]
            finding?.found = id.map(Fact.json) ?? .absent
            return (1...255).contains(id?.string?.unicodeScalars.count ?? 0) ? .passed : .failed
        },
        Rule(
            "proof-replay", expects: .text("a jti that the key has not used in the last 600 s"),
            source: "codes; time ours", orFail: .dpopReplayed
        ) { facts, finding in
            guard let proof = facts.proof, let id = proof.id else { return nil }
            finding?.found = .text(facts.isReplayed ? "\(id), which it has used" : id)
            return facts.isReplayed ? .failed : .passed
        },
    ]
}

extension OktaProofFacts {
    fileprivate func judge(_ boundKey: String, _ finding: inout Finding?) -> Finding.Outcome? {
        guard let proof else { return nil }
        finding?.expected = .text("the key with the thumbprint \(boundKey)")
        guard let thumbprint = proof.key.thumbprint else { return .notJudged }
        finding?.found = .text("the key with the thumbprint \(thumbprint)")
        return thumbprint.hasSameBytes(as: boundKey) ? .passed : .failed
    }

    fileprivate func judgeKey(_ finding: inout Finding?) -> Finding.Outcome? {
        guard let proof, proof.compact.header != nil else { return nil }
        switch proof.key {
        case .absent:
            finding?.found = .nothing("no jwk")
            return .failed
        case .unusable(let error):
            finding?.found = .text("\(error)")
            if error == .privateKey { finding?.note = "The private key is known to everybody who saw the proof." }
            return .failed
        case .usable(let key, _):
            finding?.found = .text("\(key)")
            // Another algorithm has a rule of its own.
            guard let algorithm = proof.algorithm, !key.algorithms.contains(algorithm) else { return .passed }
            finding?.note = "It cannot be used with \(algorithm.rawValue)."
            return .failed
        }
    }

    fileprivate func judgeAddress(_ finding: inout Finding?) -> Finding.Outcome? {
        guard let claims = compact?.claims else { return nil }
        let addresses = addresses
        finding?.expected = .anyOf(addresses)
        finding?.found = claims["htu"].map(Fact.json) ?? .absent
        guard let text = claims["htu"]?.string, let address = OktaAddress(text) else { return .failed }
        return addresses.contains { OktaAddress($0) == address } ? .passed : .failed
    }
}
