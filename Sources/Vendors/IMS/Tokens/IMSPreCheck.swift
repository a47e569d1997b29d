import Emulation
import JSON
import Tokens

/// What the SDK looks at before it sends a token: structure, three claims and expiry, and nothing else.
///
/// Source: documented, seed, "What the SDK Validates"; its opening sentence says all required claims, its list names
/// three, and the list is followed (inferred). Padding is tolerated (ours).
struct IMSPreCheck {
    private static let source = "seed, What the SDK Validates"

    private var findings: [Finding] = []
    private var problems: [JSON] = []
    private var isNearExpiry = false

    /// Judges a token.
    ///
    /// - Parameter margin: how far before `exp` the SDK asks for a new token.
    init(_ token: CompactToken, at moment: Moment, margin: Duration) {
        judge(token, at: moment, margin: margin)
    }

    private mutating func judge(_ token: CompactToken, at moment: Moment, margin: Duration) {
        let parts = token.bytes.split(separator: UInt8(ascii: "."), maxSplits: 6, omittingEmptySubsequences: false)
        let hasThree = parts.count == 3
        findings.append(
            Finding(
                "sdk-parts", hasThree ? .passed : .failed, expected: .count(3), found: .count(parts.count),
                source: Self.source))
        guard hasThree else { return add("sdk-not-three-parts") }
        let decoded = parts.map { Base64URL.decodeLeniently(Array($0)) }
        let objects = decoded.prefix(2).map { bytes in bytes.flatMap { (try? JSON.parse($0))?.object } }
        let isReadable = decoded.allSatisfy { $0 != nil } && objects.allSatisfy { $0 != nil }
        findings.append(
            Finding(
                "sdk-decodable", isReadable ? .passed : .failed, expected: .text("base64url, and two JSON objects"),
                source: Self.source))
        guard isReadable, let claims = objects[1] else { return add("sdk-not-decodable") }
        judge(claims, at: moment, margin: margin)
    }

    private mutating func judge(_ claims: JSONObject, at moment: Moment, margin: Duration) {
        for name in ["iss", "sub", "exp"] {
            let value = claims[name]
            let isThere = name == "exp" ? value?.number != nil : value?.isNull == false
            findings.append(
                Finding(
                    "sdk-claim-\(name)", isThere ? .passed : .failed,
                    expected: .text(name == "exp" ? "a number" : "any value but null"),
                    found: value.map(Fact.json) ?? .absent, source: Self.source))
            if !isThere { add("sdk-claim-missing", field: name) }
        }
        guard let expiry = claims["exp"]?.number?.double else { return }
        let left = expiry - moment.unixSeconds
        findings.append(
            Finding(
                "sdk-expiry", left > 0 ? .passed : .failed, expected: .timeAfter(moment.unixSeconds),
                found: .time(expiry), source: Self.source))
        if left <= 0 { return add("sdk-expired") }
        isNearExpiry = left <= margin.inSeconds
        findings.append(
            Finding(
                "sdk-near-expiry", isNearExpiry ? .noted : .passed,
                expected: .text("more than \(Fact.seconds(margin.inSeconds))"),
                found: .seconds(left),
                note: isNearExpiry ? "The SDK would ask the TokenSigner for a new token before its next request." : nil,
                source: "seed, JWT Claims: exp; the number ours"))
    }

    private mutating func add(_ problem: String, field: String? = nil) {
        var object: JSONObject = ["name": .string(problem)]
        object["field"] = field.map(JSON.string)
        problems.append(.object(object))
    }

    /// What the SDK would do.
    var verdict: CheckerVerdict {
        CheckerVerdict(
            isUsable: problems.isEmpty,
            result: [
                "usable": .bool(problems.isEmpty), "renew": .bool(problems.isEmpty && isNearExpiry),
                "problems": .array(problems),
            ], findings: findings)
    }
}

extension IMS {
    static let checkers = [
        TokenChecker(
            name: "ims-sdk", about: "what the IMS SDK looks at before it sends a token", standardMargin: .seconds(60)
        ) { IMSPreCheck($0, at: $1, margin: $2).verdict }
    ]

    static func margin(_ switches: IMSSwitches) -> Duration? { .seconds(switches.nearExpirySeconds) }
}
