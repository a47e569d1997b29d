import Emulation
import JSON
import Synchronization
import Tokens

/// A check of a row, the failure that it leads to, and the value that the failure's body names.
struct IMSCheck: Sendable {
    let finding: Finding
    let failure: IMSFailure
    let field: String
}

/// A token as IMS reads it; its members are what it says, whether or not it deserves trust.
final class IMSToken: Sendable {
    let compact: CompactToken
    /// The `iss`; `nil` when it is absent, empty or no string.
    let issuer: String?
    /// The `sub`; `nil` when it is absent, empty or no string.
    let subject: String?
    /// The header's `kid`; `nil` when it is absent or no string.
    let keyID: String?
    /// The `jti`; `nil` when it is absent, empty or no string.
    let tokenID: String?
    /// The findings of row 2.
    let form: [Finding]
    /// The finding of row 3 about `alg`.
    let algorithm: Finding
    /// The checks of row 4, which tell what finds the key.
    let locators: [IMSCheck]
    /// The checks of row 8 but for the one that a switch has a say in.
    let claims: [IMSCheck]
    /// One place, since nearly every token meets one ring only.
    private let verification = Mutex<(ring: IMSKeyRing, places: [Int], finding: Finding)?>(nil)

    convenience init(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    init(bytes: [UInt8]) {
        compact = CompactToken(bytes: bytes)
        let (header, claims) = (compact.header, compact.claims)
        issuer = Self.text(claims?["iss"])
        subject = Self.text(claims?["sub"])
        keyID = header?["kid"]?.string
        tokenID = Self.text(claims?["jti"])
        var form = compact.structure
        form.append(compact.critical())
        self.form = form
        algorithm = compact.algorithm(is: .rs256, source: "seed, JWT Claims: alg")
        locators = [
            Self.text("iss", of: compact),
            IMSCheck(
                finding: compact.headerMember("kid", is: .string, required: false, source: "seed, JWT Claims: kid"),
                failure: .claimInvalid, field: "kid"),
        ]
        self.claims = [Self.text("sub", of: compact), Self.expiry(of: compact)] + Self.beginnings(of: compact)
    }

    private static func text(_ value: JSON?) -> String? {
        value?.string.flatMap { $0.utf8.isEmpty ? nil : $0 }
    }

    /// `null` counts as absent where a claim is required. Source: ours.
    private static func isAbsent(_ value: JSON?) -> Bool { value?.isNull ?? true }

    private static func text(_ name: String, of compact: CompactToken) -> IMSCheck {
        IMSCheck(
            finding: compact.claim(name, is: .nonEmptyString, source: "seed, JWT Claims: \(name)"),
            failure: isAbsent(compact.claims?[name]) ? .claimMissing : .claimInvalid, field: name)
    }

    private static func expiry(of compact: CompactToken) -> IMSCheck {
        IMSCheck(
            finding: moment("exp", of: compact),
            failure: isAbsent(compact.claims?["exp"]) ? .claimMissing : .claimInvalid, field: "exp")
    }

    /// `nbf` and `iat`, where they are: whether one of them must be, a switch decides.
    private static func beginnings(of compact: CompactToken) -> [IMSCheck] {
        guard let claims = compact.claims, !(isAbsent(claims["nbf"]) && isAbsent(claims["iat"])) else { return [] }
        return ["nbf", "iat"].filter { claims[$0] != nil }.map {
            IMSCheck(finding: moment($0, of: compact), failure: .claimInvalid, field: $0)
        }
    }

    /// Whether a claim holds Unix seconds. Source: that it is a number is documented (seed); the bounds are ours.
    private static func moment(_ name: String, of compact: CompactToken) -> Finding {
        let source = name == "exp" ? "seed, JWT Claims: exp" : "seed, JWT Claims: nbf, iat"
        guard compact.date(name).size == .negative else { return compact.claim(name, is: .number, source: source) }
        return Finding(
            "claim-\(name)-present", .failed, expected: .types(.number), found: compact.claims?[name].map(Fact.json),
            note: "A moment in Unix seconds is not negative.", source: source)
    }

    /// What stands in for the beginning of the token's life; `nil` when neither `nbf` nor `iat` does.
    var beginning: String? { ["nbf", "iat"].first { !Self.isAbsent(compact.claims?[$0]) } }

    /// The finding of row 7, which depends on nothing but the token and the keys, and so is made once.
    func verification(by ring: IMSKeyRing, at places: [Int]) -> Finding {
        let known = verification.withLock { $0?.ring === ring && $0?.places == places ? $0?.finding : nil }
        if let known { return known }
        let finding = verify(places.map { ring.keys[$0] })
        verification.withLock { $0 = (ring, places, finding) }
        return finding
    }

    private func verify(_ keys: [VerificationKey]) -> Finding {
        var last: Finding?
        for key in keys {
            let finding = compact.signature(by: key, algorithm: .rs256, source: "seed: verified server-side")
            if finding.outcome == .passed { return finding }
            last = finding
        }
        return last ?? Finding("signature", .notJudged, note: "No key is known to judge it by.")
    }
}
