import Emulation
import JSON
import Tokens

private typealias DeviceRule = TokenRule<OktaDeviceFacts>

/// The rules for the tokens with which devices answer challenges, in the order of their checks.
///
/// The key comes before the claims, and the token before the transaction, so that a guess learns nothing (ours). Source
/// of algorithm and claims: validator page; that all failures look the same: inferred from devices.
extension Okta {
    /// What needs no state: that there is a token, its form and its algorithm.
    static let deviceFormRules = RuleList(
        [
            DeviceRule(
                "ssws-present", expects: .text("Authorization: SSWS TOKEN"), source: "validator page",
                orFail: .sswsMissing
            ) { facts, finding in
                if facts.presented.text != nil { return .passed }
                finding?.found = facts.presented.found
                return .failed
            }
        ]
            + DeviceRule.structure(orFail: .sswsMalformed, named: "ssws-") { facts in
                facts.isAPIToken ? "This is the organization's API token; a device signs a token of its own." : nil
            } + [
                deviceType, DeviceRule(.critical(), id: "ssws-critical", orFail: .sswsMalformed),
                DeviceRule(
                    "ssws-algorithm", expects: .text("RS256; with ssws-profile = devices also ES256"),
                    source: "validator page; devices",
                    orFail: .sswsAlgorithm
                ) { facts, finding in
                    guard let token = facts.compact else { return nil }
                    return finding.take(token.algorithm(isOneOf: facts.algorithms, source: "validator page; devices"))
                },
                DeviceRule(.keyReferences, id: "ssws-key-references"),
            ])

    /// What needs the factor and the transaction that the path names.
    static let deviceRules = RuleList([deviceFactor, deviceSignature] + deviceClaims + deviceTimes + deviceUses)

    private static let deviceType = DeviceRule(
        "ssws-type", expects: .text("JWT, or none; with ssws-profile = devices also one that ends in +jwt"),
        source: "validator page; devices", .inferred, orFail: .sswsMalformed
    ) { facts, finding in
        guard let header = facts.compact?.header else { return nil }
        guard let value = header["typ"] else { return .passed }
        finding?.found = .json(value)
        let name = value.string?.lowercased() ?? ""
        return name == "jwt" || facts.profile == .devices && name.hasSuffix("+jwt") ? .passed : .failed
    }
}

// MARK: - The factor and its key

extension Okta {
    private static let deviceFactor = DeviceRule(
        "ssws-factor", expects: .text("iss with the id of the path's factor, which is active and the user's"),
        source: "validator page",
        orFail: .sswsFactor
    ) { facts, finding in
        guard let token = facts.compact else { return nil }
        guard let factor = facts.factor else {
            finding?.found = .text("no push factor \(facts.path.factor) of user \(facts.path.user)")
            return .failed
        }
        guard factor.status == .active else {
            finding?.found = .text("\(factor.id), which is \(factor.status.rawValue)")
            return .failed
        }
        let issuer = token.claims?["iss"]
        finding?.found = issuer.map(Fact.json) ?? .absent
        return issuer?.string?.hasSameBytes(as: factor.id) == true ? .passed : .failed
    }

    private static let deviceSignature = DeviceRule(
        "ssws-signature", expects: .text("a signature by the factor's key"), source: "validator page",
        orFail: .sswsSignature
    ) { facts, finding in
        guard let token = facts.compact else { return nil }
        guard let key = facts.key, let algorithm = token.namedAlgorithm(among: facts.algorithms) else {
            finding?.note = "There is no key or algorithm to judge it by."
            // A factor that has no usable key cannot have signed anything.
            return facts.factor != nil && facts.key == nil ? .failed : .notJudged
        }
        return token.signature(by: key, algorithm: algorithm, &finding)
    }
}

// MARK: - Claims

extension Okta {
    private static let deviceClaims: [DeviceRule] =
        [
            ("tx", .nonEmptyString), ("sub", .nonEmptyString), ("aud", .nonEmptyString), ("iat", .number),
            ("nbf", .number),
            ("exp", .number),
        ].map { (name: String, types: ValueTypes) in
            DeviceRule(
                .claim(name, is: types, source: "validator page"), id: "ssws-claim-\(name)", orFail: .sswsClaims)
        } + [
            DeviceRule(
                "ssws-claim-jti", expects: .text("a string of 1 to 255 bytes"), source: "validator page; length ours",
                orFail: .sswsClaims
            ) { facts, finding in
                guard let claims = facts.compact?.claims else { return nil }
                finding?.found = claims["jti"].map(Fact.json) ?? .absent
                // A sandbox remembers it.
                return (1...255).contains(claims["jti"]?.string?.utf8.count ?? 0) ? .passed : .failed
            },
            DeviceRule(
                "ssws-subject", expects: .text("sub with the id of the path's user"), source: "validator page",
                orFail: .sswsSubject
            ) { facts, finding in facts.compact?.claim("sub", equals: facts.path.user, &finding) },
            DeviceRule(
                "ssws-audience", expects: .text("aud with a host of this sandbox"),
                source: "validator page; forms ours",
                orFail: .sswsAudience
            ) { facts, finding in
                facts.compact?.audience(isOneOf: facts.audiences, acceptsArray: false, &finding)
            },
        ]

    /// The client sets now, now − 60 s and now + 60 s.
    private static let deviceTimes = [
        DeviceRule("ssws-expiry", expects: .text("exp later than now"), source: "validator page", orFail: .sswsExpired)
        {
            facts, finding in facts.compact?.expiry(at: facts.moment.unixSeconds, TimeRules(), &finding)
        },
        DeviceRule(
            "ssws-not-before", expects: .text("nbf no later than now"), source: "validator page",
            orFail: .sswsNotYetValid
        ) {
            facts, finding in facts.compact?.notBefore(at: facts.moment.unixSeconds, TimeRules(), &finding)
        },
        DeviceRule(
            "ssws-issued-at", expects: .text("iat no later than a minute from now"), source: "ours", .ours,
            orFail: .sswsNotYetValid
        ) { facts, finding in
            facts.compact?.notBefore(at: facts.moment.unixSeconds, claim: "iat", TimeRules(leeway: 60), &finding)
        },
        DeviceRule(
            "ssws-lifetime", expects: .text("61 s from iat to exp; with ssws-profile = devices 300 s"),
            source: "validator page; devices",
            orFail: .sswsLifetime
        ) { facts, finding in
            facts.compact?.lifetime(atMost: facts.longestLife, from: .claims(["iat"]), &finding)
        },
    ]
}

// MARK: - Uses

extension Okta {
    private static let deviceUses = [
        DeviceRule(
            "ssws-jti-unused", expects: .text("a jti with which this device has not answered before"), source: "ours",
            .ours,
            orFail: .sswsReplayed
        ) { facts, finding in
            guard let id = facts.compact?.claims?["jti"]?.string else { return nil }
            finding?.found = .text(id)
            return facts.isUsed ? .failed : .passed
        },
        DeviceRule(
            "ssws-transaction", expects: .text("tx with the id of the path's transaction, which is the factor's"),
            source: "validator page", orFail: [.transactionNotFound],
            by: { Refusal(.transactionNotFound, ["id": .string($0.path.transaction)]) },
            judge: { facts, finding in
                guard let claims = facts.compact?.claims else { return nil }
                guard let transaction = facts.transaction else {
                    finding?.found = .text("no transaction \(facts.path.transaction) of factor \(facts.path.factor)")
                    return .failed
                }
                finding?.found = claims["tx"].map(Fact.json) ?? .absent
                return claims["tx"]?.string?.hasSameBytes(as: transaction.id) == true ? .passed : .failed
            }),
        DeviceRule(
            "ssws-transaction-open", expects: .text("a transaction that waits for its answer"),
            source: "codes, E0000079",
            orFail: .transactionClosed
        ) { facts, finding in
            guard facts.compact != nil, let transaction = facts.transaction else { return nil }
            let result = transaction.result(at: facts.moment)
            finding?.found = .text("\(transaction.id), whose result is \(result.rawValue)")
            return result == .waiting ? .passed : .failed
        },
    ]
}
