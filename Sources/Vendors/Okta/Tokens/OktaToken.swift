import Emulation
import JSON
import Synchronization
import Tokens

/// A token of a server as it reads it back; its members are unverified.
final class OktaToken: Sendable {
    let compact: CompactToken
    /// The header's `kid`.
    let keyID: String?
    let issuer: String?
    /// The `jti`.
    let id: String?
    /// The id of the user; `nil` in the token of a service or guest.
    let userID: String?
    /// The id of the client that got the token.
    let clientID: String?
    let scopes: [String]
    // One slot, since nearly every token meets one key only.
    private let verification = Mutex<(key: SigningKey, outcome: Finding.Outcome)?>(nil)

    /// Whether it is an ID token: an access token's id begins otherwise. Source: ref.
    var isIDToken: Bool { id?.hasPrefix("ID.") ?? false }

    init(bytes: [UInt8]) {
        let compact = CompactToken(bytes: bytes)
        self.compact = compact
        keyID = compact.header?["kid"]?.string
        let claims = compact.claims
        (issuer, id) = (claims?["iss"]?.string, claims?["jti"]?.string)
        (userID, clientID) = (claims?["uid"]?.string, claims?["cid"]?.string)
        scopes = claims?["scp"]?.array?.compactMap(\.string) ?? []
    }

    /// Whether that key made the signature; computed once, since it depends on nothing else.
    func signature(by key: SigningKey, _ finding: inout Finding?) -> Finding.Outcome {
        if finding == nil,
            let known = verification.withLock({ $0?.key.isIdentical(to: key) == true ? $0?.outcome : nil })
        {
            return known
        }
        let outcome = compact.signature(by: key.verificationKey, algorithm: .rs256, &finding)
        if finding == nil { verification.withLock { $0 = (key, outcome) } }
        return outcome
    }
}
