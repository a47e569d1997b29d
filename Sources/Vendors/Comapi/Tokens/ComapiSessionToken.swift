import Emulation
import JSON
import Synchronization
import Tokens

/// A session's token as presented; its members are not yet verified.
final class ComapiSessionToken: Sendable {
    let compact: CompactToken
    /// `nil` if the claim is absent, as in an app's token.
    let spaceID: ComapiID?
    let sessionID: String
    let profileID: ComapiID
    let start: String
    /// The mark of tokens minted by a control call.
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

    /// The expiry, in Unix seconds.
    var expirySeconds: Double? { compact.date("exp").seconds() }
    /// The time of issue, in Unix seconds.
    var issueSeconds: Double? { compact.date("iat").seconds() }
}

// MARK: - Issuing

/// The claims of a session's token.
///
/// Source: `apiSpaceId`, `iat`, `exp`, `sub`, `iss`, `aud` are observed, JS SDK and its mock; `jti`, `boot` are ours.
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
    /// Signs a session's token in a form that the JS SDK can read.
    ///
    /// That SDK decodes the payload with `atob`, which rejects `-` and `_` (observed); so whatever could produce them
    /// is escaped in the JSON.
    func sessionToken(by key: SigningKey) throws(KeyError) -> String {
        let payload = Self.escaped(JSON.object(claims).bytes)
        let input = Base64URL.encode(JSON.object(header).bytes) + "." + Base64URL.encode(payload)
        return input + "." + Base64URL.encode(try key.sign(Array(input.utf8), algorithm: .hs256))
    }

    /// JSON text with `>`, `?`, `~`, DEL and all non-ASCII characters as `\uXXXX`; they occur only in strings.
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
/// The secret comes from the fixtures, so a token survives a restart, as clients that store theirs expect.
final class ComapiSessionKeys: Sendable {
    private let known = RecentReadings<SigningKey>()
    /// The sandboxes that issued tokens, the latest last.
    private let issuers = Mutex<[String]>([])
    /// ours: the maximum number to try when explaining a token from another sandbox.
    private static let mostIssuers = 64

    func noteIssue(in sandbox: SandboxIdentity) {
        issuers.withLock { names in
            if names.last == sandbox.name { return }
            names.removeAll { $0 == sandbox.name }
            names.append(sandbox.name)
            if names.count > Self.mostIssuers { names.removeFirst() }
        }
    }

    /// The sandbox that issued a token; `nil` if none of the latest did.
    func issuer(of token: CompactToken, for space: ComapiSpace) -> String? {
        issuers.withLock { $0 }.last { name in
            let key = key(of: space, in: SandboxIdentity(name: name, start: "")).verificationKey
            return token.signature(by: key, algorithm: .hs256).outcome == .passed
        }
    }

    /// The key of a space in a sandbox: HMAC-SHA-256 of sandbox name, LF and space id with the session secret as key.
    func key(of space: ComapiSpace, in sandbox: SandboxIdentity) -> SigningKey {
        // Recent readings hash the ends of long texts, so the sandbox goes last: there are more of them than spaces.
        let place = Array("\(space.id.text)\n\(sandbox.name)".utf8)
        return known.reading(of: place[...]) { _ in
            do {
                let name = Array("\(sandbox.name)\n\(space.id.text)".utf8)
                return try SigningKey.secret(try space.sessionKey.sign(name, algorithm: .hs256))
            } catch {
                // HMAC accepts any key and text; if it ever failed, the fixtures' own key would still sign and verify.
                return space.sessionKey
            }
        }
    }
}
