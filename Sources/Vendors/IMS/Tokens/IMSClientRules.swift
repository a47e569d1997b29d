import Emulation
import JSON
import Tokens

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
                finding?.found = .count(facts.partCount)
                return facts.partCount == 3 ? .passed : .failed
            },
            ClientRule(
                "sdk-decodable", expects: .text("base64url, and two JSON objects"), source: validation,
                orFail: .notDecodable
            ) { facts, _ in facts.partCount == 3 ? facts.claims == nil ? .failed : .passed : nil },
        ] + ["iss", "sub", "exp"].map(clientClaim) + [
            ClientRule(
                "sdk-expiry", expects: .text("exp later than now"), source: validation, orFail: .expired
            ) { facts, finding in
                guard let left = facts.left else { return nil }
                finding?.expected = .timeAfter(facts.moment.unixSeconds)
                finding?.found = facts.claims?["exp"]?.number.map { .time($0.double) }
                return left > 0 ? .passed : .failed
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
