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
    }

    private static func text(_ value: JSON?) -> String? {
        value?.string.flatMap { $0.utf8.isEmpty ? nil : $0 }
    }

    /// What stands in for the beginning of the token's life; `nil` when neither `nbf` nor `iat` does.
    var beginning: String? { ["nbf", "iat"].first { compact.claims?[$0].map { !$0.isNull } ?? false } }

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
