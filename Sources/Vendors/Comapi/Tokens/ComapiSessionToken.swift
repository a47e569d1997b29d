import Emulation
import JSON
import Synchronization
import Tokens

/// A token of a session as it was presented; what it says, whether or not it deserves trust.
final class ComapiSessionToken: Sendable {
    let compact: CompactToken
    /// `nil` when there is no such claim, as in a token of the app.
    let spaceID: ComapiID?
    let sessionID: String
    let profileID: ComapiID
    let start: String
    /// The mark of tokens that were minted by a control call.
    let mintMark: String?

    init(bytes: [UInt8]) {
        compact = CompactToken(bytes: bytes)
        let claims = compact.claims
        spaceID = claims?["apiSpaceId"]?.string.map { ComapiID($0) }
        sessionID = claims?["jti"]?.string ?? ""
        profileID = ComapiID(claims?["sub"]?.string ?? "")
        start = claims?["boot"]?.string ?? ""
        mintMark = claims?["minted"]?.string
    }

    convenience init(_ text: String) { self.init(bytes: Array(text.utf8)) }

    /// The end, in Unix seconds.
    var expirySeconds: Double? { compact.date("exp").seconds() }
    /// The beginning, in Unix seconds.
    var issueSeconds: Double? { compact.date("iat").seconds() }
}

// MARK: - Issuing

/// What the token of a session says.
///
/// Source: `apiSpaceId`, `iat`, `exp`, `sub`, `iss` and `aud` are observed, JS SDK and its mock; `jti` and `boot` are ours.
struct ComapiSessionClaims {
    let space: ComapiSpace
    let profileID: ComapiID
    let sessionID: String
    /// Whole Unix seconds.
    let issued: Int
    let expires: Int
    let start: String
    var mintMark: String?

    var draft: TokenDraft {
        var claims: JSONObject = [
            "apiSpaceId": space.id.json, "iat": JSON(issued), "exp": JSON(expires), "sub": profileID.json,
            "iss": .string(space.issuer), "aud": .string(space.audience), "jti": .string(sessionID),
            "boot": .string(start),
        ]
        if let mintMark { claims["minted"] = .string(mintMark) }
        return TokenDraft(header: ["alg": "HS256", "typ": "JWT"], claims: claims)
    }
}

extension TokenDraft {
    /// Signs a session's token in the form that the JS SDK can read.
    ///
    /// That SDK decodes the payload with `atob`, which knows neither `-` nor `_` (observed); so whatever could yield those
    /// is escaped inside the JSON.
    func sessionToken(by key: SigningKey) throws(KeyError) -> String {
        let payload = Self.escaped(JSON.object(claims).bytes)
        let input = Base64URL.encode(JSON.object(header).bytes) + "." + Base64URL.encode(payload)
        return input + "." + Base64URL.encode(try key.sign(Array(input.utf8), algorithm: .hs256))
    }

    /// JSON text with `>`, `?`, `~`, DEL and everything beyond ASCII as `\uXXXX`; they stand in strings alone.
    static func escaped(_ json: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(json.count)
        for unit in String(decoding: json, as: UTF8.self).utf16 {
            switch unit {
            case 0x3E, 0x3F, 0x7E, 0x7F...:
                let digits = String(unit, radix: 16)
                bytes += Array("\\u".utf8) + Array(repeating: UInt8(ascii: "0"), count: 4 - digits.utf8.count)
                bytes += Array(digits.utf8)
            default: bytes.append(UInt8(truncatingIfNeeded: unit))
            }
        }
        return bytes
    }
}

// MARK: - Keys

/// The keys of session tokens: one for each space of each sandbox, derived from the space's session secret (ours).
///
/// The secret comes from the fixtures, so a token outlives a restart, as clients that keep theirs expect.
final class ComapiSessionKeys: Sendable {
    private let known = RecentReadings<SigningKey>()
    /// The sandboxes in which tokens were issued, the latest last.
    private let issuers = Mutex<[String]>([])
    /// ours: so many are tried to explain a token of another sandbox.
    private static let mostIssuers = 64

    /// Notes that a sandbox has issued a token.
    func noteIssue(in sandbox: SandboxIdentity) {
        issuers.withLock { names in
            if names.last == sandbox.name { return }
            names.removeAll { $0 == sandbox.name }
            names.append(sandbox.name)
            if names.count > Self.mostIssuers { names.removeFirst() }
        }
    }

    /// The sandbox that has issued a token; `nil` where none of the latest did.
    func issuer(of token: CompactToken, for space: ComapiSpace) -> String? {
        issuers.withLock { $0 }.last { name in
            let key = key(of: space, in: SandboxIdentity(name: name, start: "")).verificationKey
            return token.signature(by: key, algorithm: .hs256).outcome == .passed
        }
    }

    /// The key of a space in a sandbox: HMAC-SHA-256 of the sandbox's name, LF and the space's id under the session secret.
    func key(of space: ComapiSpace, in sandbox: SandboxIdentity) -> SigningKey {
        // A table of recent texts finds its place by their ends, and spaces are fewer than sandboxes.
        let place = Array("\(space.id.text)\n\(sandbox.name)".utf8)
        return known.reading(of: place[...]) { _ in
            do {
                let name = Array("\(sandbox.name)\n\(space.id.text)".utf8)
                return try SigningKey.secret(try space.sessionKey.sign(name, algorithm: .hs256))
            } catch {
                // HMAC takes every key and text; the fixtures' own key, should it ever not, still signs and verifies.
                return space.sessionKey
            }
        }
    }
}
