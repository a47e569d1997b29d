import Emulation
import Tokens

/// Judgements that several of Okta's rules share.
extension CompactToken {
    /// The signature by the key that the token's issuer publishes under its `kid`; `nil` if there is none.
    func signature(byPublished key: VerificationKey?, _ finding: inout Finding?) -> Finding.Outcome? {
        guard let header else { return nil }
        guard let key else {
            finding?.found =
                header["kid"].map { .text("kid \($0.text), which is not published") } ?? .nothing("no kid")
            return .failed
        }
        return signature(by: key, algorithm: .rs256, &finding)
    }

    /// The issuer, among those that are trusted.
    func issuer(isOneOf trusted: [String], _ finding: inout Finding?) -> Finding.Outcome? {
        guard let claims else { return nil }
        finding?.expected = .anyOf(trusted)
        finding?.found = claims["iss"].map(Fact.json) ?? .absent
        guard let issuer = claims["iss"]?.string else { return .failed }
        return trusted.contains { $0.hasSameBytes(as: issuer) } ? .passed : .failed
    }
}
