import Emulation
import JSON
import Tokens

extension IMS {
    /// Judges a token without its request, using local or previously fetched keys; if this server publishes the
    /// issuer's keys, with the keys it would publish now.
    ///
    /// Only a request can tell whether a token id was used. The SDK's checks are listed separately; see ``checkers``.
    func explain(
        _ text: String, knowing context: JSONObject, in setting: TokenSetting<IMS>,
        _ findings: inout Findings<IMSFailure>
    ) -> (kind: String?, account: String?) {
        let token = IMSToken(text)
        let (issuers, devKeys) = (setting.state.issuers, setting.state.devKeys)
        let judge = IMSTokenJudge(
            self, (known(issuers, devKeys), devKeys), setting.switches,
            at: setting.moment, asking: .never, in: setting.sandbox)
        var facts = judge.judge(token, &findings)
        facts.isRefused = true
        if let issuer = facts.issuer, issuer.record.replay != .off { facts.tokenUse = .unknown }
        facts.findUser(in: setting.state)
        findings.judge(facts, by: Self.userRules)
        let signer = judge.signer(of: token)
        return (
            token.compact.claims == nil ? nil : "user",
            signer.map { "issuer \($0.issuer.record.name) of tenant \($0.issuer.record.tenant)" }
        )
    }

    /// The issuers of a sandbox, including the keys that requests would fetch from this server.
    func known(_ known: IMSIssuerStore, _ devKeys: [String: IssuerKeys]) -> IMSIssuerStore {
        var issuers = known
        for issuer in known.all {
            guard let remote = issuer.remote, remote.lastReport == nil, let name = Self.devIssuer(of: remote.url),
                // Minting reports a file without a key.
                let keys = try? self.devKeys(of: name, among: devKeys), !keys.isBroken
            else { continue }
            issuers.put(
                IMSIssuer(issuer.record, keys: keys.published.map { $0.key.verificationKey.limited(to: [.rs256]) }))
        }
        return issuers
    }

    private static func devIssuer(of url: String) -> String? {
        let prefix = KeyRequest.ownServer + "/ims/dev-issuers/"
        guard url.hasPrefix(prefix) else { return nil }
        return String(url.dropFirst(prefix.count).prefix { $0 != "/" })
    }
}

/// Explains a refusal to the person who signs.
extension IMSTokenJudge {
    /// ours: the maximum number of others' keys to try, so that forged tokens do not become expensive.
    private static let mostOthers = 16

    /// The key that made a wrong signature: another key of the issuer, or a key of another issuer.
    func mistake(in facts: IMSFacts, at places: [Int]) -> String? {
        if let issuer = facts.issuer, let token = facts.token,
            let reason = ownKey(of: issuer, for: token, besides: places)
        {
            return reason
        }
        let own = facts.issuer.map { ", not one of \($0.record.name)" } ?? ""
        return facts.otherSigner.map { "The signature matches \($0.phrase)\(own)." }
    }

    /// Why a token's `kid` names no key of the issuer, and why no newer keys are fetched.
    func absence(of facts: IMSFacts) -> String? {
        guard let issuer = facts.issuer, let token = facts.token else { return nil }
        let key =
            facts.isRefused
            ? nil : issuer.ring.keys.prefix(Self.mostOthers).first { isSigned(token, by: $0) }
        let reason = key.map { "The signature matches the issuer's key\($0.id.map { " “\($0)”" } ?? " without kid")." }
        let pause =
            asking == .done
            ? nil : issuer.remote?.pause(at: moment, policy, setBy: "switch jwks-cooldown-seconds")
        let notes = [reason, pause].compactMap(\.self)
        return notes.isEmpty ? nil : notes.joined(separator: " ")
    }

    /// Why the issuer's own key that made the signature was not tried.
    private func ownKey(of issuer: IMSIssuer, for token: IMSToken, besides places: [Int]) -> String? {
        let keys = issuer.ring.keys
        let others = keys.indices.filter { !places.contains($0) }.prefix(Self.mostOthers)
        guard let place = others.first(where: { isSigned(token, by: keys[$0]) }) else { return nil }
        let name = issuer.record.name
        if let validity = keys[place].validity, issuer.record.certificateDates == .reject,
            !validity.contains(moment.unixSeconds)
        {
            return
                "The signature matches a certificate of \(name) that is \(validity.dates), so certificate_dates = reject "
                + "set it aside."
        }
        if issuer.ring.hasIDs, let id = token.keyID {
            return
                "The signature matches the issuer's other key\(keys[place].id.map { " “\($0)”" } ?? " without kid"); "
                + "the header's kid is “\(id)”."
        }
        return "The signature matches key \(place + 1) of \(name); of keys without kid only the first "
            + "\(IMSKeyRing.mostTried) are tried."
    }

    /// An issuer, and the key of it that made a signature.
    struct Signer {
        let issuer: IMSIssuer
        let keyID: String?

        var phrase: String {
            let record = issuer.record
            return "\(keyID.map { "key “\($0)”" } ?? "a key") of issuer \(record.name) (\(record.issuer), tenant "
                + "\(record.tenant), environment \(record.environment.rawValue))"
        }
    }

    func signer(of token: IMSToken, besides issuer: IMSIssuer? = nil) -> Signer? {
        guard token.compact.isWellFormed else { return nil }
        var left = Self.mostOthers
        for other in vendor.known(issuers, devKeys).all where other.record.name != issuer?.record.name {
            let keys = other.ring.keys.prefix(left)
            left -= keys.count
            if let key = keys.first(where: { isSigned(token, by: $0) }) { return Signer(issuer: other, keyID: key.id) }
        }
        return nil
    }

    private func isSigned(_ token: IMSToken, by key: VerificationKey) -> Bool {
        token.compact.isSigned(by: key, algorithm: .rs256)
    }

    /// What is wrong with an unknown `iss`: a nearly identical one, and who signed.
    func strangeness(of token: IMSToken) -> String {
        guard let iss = token.issuer else { return "" }
        for near in issuers.all {
            guard let difference = Nearest.difference(iss, near.record.issuer) else { continue }
            return "Issuer \(near.record.name) is \(near.record.issuer). \(difference), and every byte counts."
        }
        if let own = issuers.all.first(where: { $0.record.isElsewhere(iss) }) {
            return
                "Issuer \(own.record.name) is \(own.record.issuer(at: sandbox.publicBase.text)) here; --public-base says "
                + "which address that is."
        }
        if let signer = signer(of: token) { return "The signature matches \(signer.phrase)." }
        let hint = Nearest.names(to: iss, among: issuers.all.map(\.record.issuer), count: 1).first
        return hint.map { "Did you mean “\($0)”?" }
            ?? "Registered are \(issuers.all.prefix(Self.mostOthers).map(\.record.name).joined(separator: ", "))."
    }

    /// The explanation for a signature that ``isSignedBySecret(_:_:)`` finds.
    static let publicSecret =
        "The token is signed by HMAC with the issuer's public key as secret: anybody could do that."

    /// Whether an HMAC was made with the public key as its secret, which a careless server would accept.
    func isSignedBySecret(_ token: IMSToken, _ issuer: IMSIssuer?) -> Bool {
        guard let issuer, let algorithm = token.secretAlgorithm else { return false }
        return issuer.ring.keys.prefix(IMSKeyRing.mostTried).contains { key in
            guard let text = key.publicPEM else { return false }
            return [text, String(text.dropLast())].contains { secret in
                // A text is never empty, so it always makes a key.
                guard let secret = try? VerificationKey.secret(secret) else { return false }
                return token.compact.isSigned(by: secret, algorithm: algorithm)
            }
        }
    }
}

/// What the SDK finds wrong with a token.
enum IMSClientProblem: String, VendorFailure {
    case notThreeParts = "sdk-not-three-parts"
    case notDecodable = "sdk-not-decodable"
    case claimMissing = "sdk-claim-missing"
    case expired = "sdk-expired"
}

/// What the SDK checks before it sends a token: structure, three claims and expiry, nothing else.
struct IMSClientFacts: RuleFacts {
    typealias Failure = IMSClientProblem

    let token: CompactToken
    let moment: Moment
    /// How far before `exp` the SDK asks for a new token.
    let margin: Duration
    let partCount: Int
    /// The claims; `nil` when a part cannot be decoded. Padding is tolerated (ours).
    let claims: JSONObject?

    var compact: CompactToken? { token }
    /// Seconds until `exp`.
    var left: Double? { claims?["exp"]?.number.map { $0.double - moment.unixSeconds } }
    var isNearExpiry: Bool { left.map { $0 > 0 && $0 <= margin.inSeconds } ?? false }

    init(_ token: CompactToken, at moment: Moment, margin: Duration) {
        (self.token, self.moment, self.margin) = (token, moment, margin)
        let parts = token.bytes.split(separator: UInt8(ascii: "."), maxSplits: 6, omittingEmptySubsequences: false)
        partCount = parts.count
        let decoded = parts.map { Base64URL.decodeLeniently(Array($0)) }
        let objects = decoded.prefix(2).map { bytes in bytes.flatMap { (try? JSON.parse($0))?.object } }
        let isReadable = parts.count == 3 && decoded.allSatisfy { $0 != nil } && objects.allSatisfy { $0 != nil }
        claims = isReadable ? objects[1] : nil
    }
}

/// Source: documented, security page, "What the SDK Validates"; its opening sentence says all required claims, its list
/// names three, and we follow the list (inferred).
extension IMS {
    private typealias ClientRule = TokenRule<IMSClientFacts>
    private static let validation = "security page, What the SDK Validates"

    static let clientRules = RuleList(
        [
            ClientRule("sdk-parts", expects: .count(3), source: validation, orFail: .notThreeParts) { facts, finding in
                return finding.judge(.count(facts.partCount), facts.partCount == 3)
            },
            ClientRule(
                "sdk-decodable", expects: .text("base64url, and two JSON objects"), source: validation,
                orFail: .notDecodable
            ) { facts, _ in facts.partCount == 3 ? facts.claims == nil ? .failed : .passed : nil },
        ] + ["iss", "sub", "exp"].map(clientClaim) + [
            ClientRule("sdk-expiry", expects: .text("exp later than now"), source: validation, orFail: .expired) {
                facts, finding in
                guard let left = facts.left else { return nil }
                finding?.expected = .timeAfter(facts.moment.unixSeconds)
                return finding.judge(facts.claims?["exp"]?.number.map { .time($0.double) }, left > 0)
            },
            ClientRule(
                "sdk-near-expiry", expects: .text("more than the margin of the client"),
                source: "security page, JWT Claims: exp; the number ours"
            ) { facts, finding in
                guard let left = facts.left, left > 0 else { return nil }
                finding?.expected = .text("more than \(Fact.seconds(facts.margin.inSeconds))")
                finding?.found = .seconds(left)
                guard facts.isNearExpiry else { return .passed }
                finding?.note = "The SDK would ask the TokenSigner for a new token before its next request."
                return .noted
            },
        ])

    private static func clientClaim(_ name: String) -> ClientRule {
        ClientRule(
            "sdk-claim-\(name)", expects: .text(name == "exp" ? "a number" : "any value but null"), source: validation,
            orFail: [.claimMissing], by: { _ in Refusal(.claimMissing, ["field": .string(name)]) }
        ) { facts, finding in
            guard let claims = facts.claims else { return nil }
            let value = claims[name]
            finding?.found = value.map(Fact.json) ?? .absent
            return (name == "exp" ? value?.number != nil : value?.isNull == false) ? .passed : .failed
        }
    }

    static let checkers = [
        TokenChecker(
            name: "ims-sdk", of: identity.id, about: "what the IMS SDK looks at before it sends a token",
            standardMargin: .seconds(60), rules: clientRules, facts: IMSClientFacts.init
        ) { facts, problems in
            [
                "usable": .bool(problems.isEmpty), "renew": .bool(problems.isEmpty && facts.isNearExpiry),
                "problems": .array(
                    problems.map { problem in
                        .object(
                            JSONObject(
                                [("name", .string(problem.failure.rawValue))]
                                    + problem.parameters.map { ($0.name, $0.value) }))
                    }),
            ]
        }
    ]

    func checkerSettings(in state: State, _ switches: IMSSwitches) -> CheckerSettings {
        CheckerSettings(margin: .seconds(switches.nearExpirySeconds))
    }
}
