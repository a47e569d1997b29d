import Emulation
import JSON
import Synchronization
import Tokens

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
    /// What stands in for the beginning of the token's life; `nil` when neither `nbf` nor `iat` does.
    let beginning: String?
    /// Whether row 8 holds, but for the check that a switch has a say in.
    let hasClaims: Bool
    /// Whether a time looks like milliseconds.
    let hasMilliseconds: Bool
    // One place each, since nearly every token meets one issuer with one ring only.
    private let acceptance = Mutex<(issuer: Int, signature: Finding)?>(nil)
    private let verification = Mutex<(ring: IMSKeyRing, places: [Int], finding: Finding)?>(nil)

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
        beginning = Self.isPresent("nbf", claims) ? "nbf" : Self.isPresent("iat", claims) ? "iat" : nil
        let beginsRightly =
            beginning == nil || ["nbf", "iat"].allSatisfy { claims?[$0] == nil || compact.holdsMoment($0) }
        hasMilliseconds = ["exp", "nbf", "iat"].contains { compact.date($0).size == .milliseconds }
        hasClaims = subject != nil && compact.holdsMoment("exp") && beginsRightly
    }

    private static func text(_ value: JSON?) -> String? {
        value?.string.flatMap { $0.utf8.isEmpty ? nil : $0 }
    }

    private static func isPresent(_ name: String, _ claims: JSONObject?) -> Bool {
        claims?[name].map { !$0.isNull } ?? false
    }

    /// Rows 2 to 7, when all of them are known to hold by that issuer; whether its keys are fresh is another matter.
    func acceptance(by issuer: IMSIssuer) -> IMSAcceptance? {
        let signature = acceptance.withLock { $0?.issuer == issuer.number ? $0?.signature : nil }
        return signature.map { IMSAcceptance(of: self, requiresType: issuer.record.requiresType, signature: $0) }
    }

    /// Keeps that rows 2 to 7 hold by that issuer, which depends on nothing but the two.
    func accept(by issuer: IMSIssuer, signature: Finding) {
        acceptance.withLock { $0 = (issuer.number, signature) }
    }

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

extension CompactToken {
    /// Whether a claim holds Unix seconds, which is quicker told than why not.
    fileprivate func holdsMoment(_ name: String) -> Bool {
        let date = date(name)
        return date.size != .negative && date.seconds() != nil
    }
}
