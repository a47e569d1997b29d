package import JSON
package import Tokens

/// The tokens of a sandbox that no scenario takes for newer: those that scenarios refused, and those that were sent or
/// minted before.
struct TokenMemory: Sendable {
    private(set) var refused = TokenDigests()
    private var earlier = TokenDigests()

    /// Whether the token was neither refused, nor sent or minted before.
    func isNewer(_ token: CompactToken) -> Bool { !refused.contains(token.bytes) && !earlier.contains(token.bytes) }

    func wasRefused(_ token: CompactToken) -> Bool { refused.contains(token.bytes) }

    mutating func refuse(_ token: CompactToken) { refused.insert(token.bytes) }

    mutating func note(_ token: [UInt8]) { earlier.insert(token) }

    var kept: JSON { ["refused": refused.written, "earlier": earlier.written] }

    /// Reads what ``kept`` gives.
    init(_ node: FixtureNode) throws(FixtureProblem) {
        let mapping = try node.mapping("refused", "earlier")
        refused = try TokenDigests.read(mapping.required("refused"))
        earlier = try TokenDigests.read(mapping.required("earlier"))
    }

    init() {}
}

/// The digests of the latest thousand tokens that were put in.
public struct TokenDigests: Sendable {
    /// ours: a test renews a few times; a load with a new token for each call must not fill the memory.
    private static let most = 1000

    private var digests: [UInt64]

    /// Creates an empty collection.
    public init() { digests = [] }

    private static func digest(of token: [UInt8]) -> UInt64 {
        Digest.sha256(token).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    func contains(_ token: [UInt8]) -> Bool {
        !digests.isEmpty && digests.contains(Self.digest(of: token))
    }

    mutating func insert(_ token: [UInt8]) {
        let digest = Self.digest(of: token)
        if digests.contains(digest) { return }
        if digests.count == Self.most { digests.removeFirst() }
        digests.append(digest)
    }

    /// Signs a token that is none of these: if need be with a later `exp`, as if it had been asked for some seconds
    /// later.
    package func sign<Failure>(
        _ draft: inout TokenDraft, _ sign: (TokenDraft) throws(Failure) -> String
    ) throws(Failure) -> String {
        var token = try sign(draft)
        while contains(Array(token.utf8)), let later = Self.later(draft.claims["exp"]) {
            draft.claims["exp"] = later
            token = try sign(draft)
        }
        return token
    }

    /// An `exp` one second later; `nil` for one that does not count whole seconds, or is the last.
    static func later(_ expiry: JSON?) -> JSON? {
        guard let expiry = expiry?.int, expiry < .max else { return .none }
        return JSON(expiry + 1)
    }
}

extension TokenDigests: RecordValue {
    package static func read(_ node: FixtureNode) throws(FixtureProblem) -> TokenDigests {
        var tokens = TokenDigests()
        tokens.digests = try [UInt64].read(node)
        return tokens
    }

    package var written: JSON { digests.written }
}
