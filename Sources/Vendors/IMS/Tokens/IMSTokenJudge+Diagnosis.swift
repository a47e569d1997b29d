import Emulation
import JSON
import Tokens

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

        /// A readable description of the key.
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
        token.compact.signature(by: key, algorithm: .rs256).outcome == .passed
    }

    /// What is wrong with an unknown `iss`: a nearly identical one, and who signed.
    func strangeness(of token: IMSToken) -> String {
        guard let iss = token.issuer else { return "" }
        if let near = issuers.all.first(where: { Self.core($0.record.issuer) == Self.core(iss) }) {
            return
                "Issuer \(near.record.name) is \(near.record.issuer): only capitals, blanks at the ends or a final / "
                + "differ, and every byte counts."
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

    /// An `iss` without the parts that people overlook.
    private static func core(_ iss: String) -> String {
        var text = iss.lowercased()[...]
        while let last = text.last, last == "/" || last.isWhitespace { text.removeLast() }
        return String(text.drop(while: \.isWhitespace))
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
                return token.compact.signature(by: secret, algorithm: algorithm).outcome == .passed
            }
        }
    }
}
