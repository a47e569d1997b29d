import Emulation
import JSON
import Synchronization
import Tokens

/// A token as IMS reads it; its members are unverified.
final class IMSToken: Sendable {
    let compact: CompactToken
    /// The `iss`; `nil` when absent, empty or not a string.
    let issuer: String?
    /// The `sub`; `nil` when absent, empty or not a string.
    let subject: String?
    /// The header's `kid`; `nil` when absent or not a string.
    let keyID: String?
    /// The `jti`; `nil` when absent, empty or not a string.
    let tokenID: String?
    /// The claim that serves as the start of the token's life; `nil` without `nbf` and `iat`.
    let beginning: String?
    /// The header's `alg` if it names an algorithm with a shared secret.
    let secretAlgorithm: Algorithm?
    // One slot, since nearly every token meets one issuer with one ring only.
    private let verification = Mutex<(ring: IMSKeyRing, places: [Int], outcome: Finding.Outcome)?>(nil)

    convenience init(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    init(bytes: [UInt8]) {
        let compact = CompactToken(bytes: bytes)
        self.compact = compact
        let (header, claims) = (compact.header, compact.claims)
        issuer = Self.text(claims?["iss"])
        subject = Self.text(claims?["sub"])
        keyID = header?["kid"]?.string
        tokenID = Self.text(claims?["jti"])
        beginning = Self.beginning(of: compact)
        secretAlgorithm = compact.namedAlgorithm(among: Self.symmetric)
    }

    private static let symmetric = Algorithm.allCases.filter { $0.family == .hmac }

    /// The claim that serves as the start of a token's life.
    static func beginning(of token: CompactToken) -> String? {
        isPresent("nbf", token.claims) ? "nbf" : isPresent("iat", token.claims) ? "iat" : nil
    }

    private static func text(_ value: JSON?) -> String? {
        value?.string.flatMap { $0.utf8.isEmpty ? nil : $0 }
    }

    private static func isPresent(_ name: String, _ claims: JSONObject?) -> Bool {
        claims?[name].map { !$0.isNull } ?? false
    }

    /// Whether one of these keys made the signature; computed once, since it depends on nothing else.
    func signature(by ring: IMSKeyRing, at places: [Int], _ finding: inout Finding?) -> Finding.Outcome {
        if finding == nil,
            let known = verification.withLock({ $0?.ring === ring && $0?.places == places ? $0?.outcome : nil })
        {
            return known
        }
        var outcome = Finding.Outcome.notJudged
        for place in places where outcome != .passed {
            finding?.found = nil
            finding?.note = nil
            outcome = compact.signature(by: ring.keys[place], algorithm: .rs256, &finding)
        }
        if finding == nil { verification.withLock { $0 = (ring, places, outcome) } }
        return outcome
    }
}
