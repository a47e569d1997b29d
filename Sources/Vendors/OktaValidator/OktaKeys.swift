public import Emulation
public import JSON
import Synchronization
public import Tokens

/// Where a validator gets the key of a token.
///
/// The observed profile may also need `fetch` with a given key: it asks the issuer for its name, and sets aside a JWK
/// without `kid`. Without `fetch` no request is made.
public struct OktaKeys: Sendable {
    /// Makes a request, within the limits of ``KeyRequest``: 5 s for each (observed, jwt), and no redirect to another
    /// scheme.
    public typealias Fetch = TokenChecker.KeyFetching

    enum Source: Sendable {
        case rsa(VerificationKey)
        case jwk(JSON)
        case set([VerificationKey])
        case discovery
    }

    let source: Source
    let cache: OktaKeyCache
    let fetch: Fetch?

    init(_ source: Source, _ cache: OktaKeyCache, _ fetch: Fetch?) {
        (self.source, self.cache, self.fetch) = (source, cache, fetch)
    }

    /// An RSA key, used whatever `kid` a token has.
    public static func rsa(_ key: VerificationKey, fetch: Fetch? = nil) -> OktaKeys {
        OktaKeys(.rsa(key), OktaKeyCache(), fetch)
    }

    public static func rsa(modulus: [UInt8], exponent: [UInt8], fetch: Fetch? = nil) throws(KeyError) -> OktaKeys {
        let (n, e) = (Base64URL.encode(modulus), Base64URL.encode(exponent))
        return .rsa(try VerificationKey.jwk(["kty": "RSA", "n": .string(n), "e": .string(e)]), fetch: fetch)
    }

    /// An RSA key in DER: an X.509 certificate, or a public key.
    public static func rsa(der bytes: [UInt8], fetch: Fetch? = nil) throws(KeyError) -> OktaKeys {
        do throws(KeyError) {
            return try checked(try VerificationKey.certificate(der: bytes), fetch)
        } catch .unreadable {
            return try checked(try VerificationKey.publicKey(der: bytes), fetch)
        }
    }

    /// An RSA key in PEM, a certificate or a public key; of several the first, as in a certificate with its chain.
    public static func rsa(pem text: String, fetch: Fetch? = nil) throws(KeyError) -> OktaKeys {
        guard let key = try VerificationKey.pem(text).first else { throw .noKeyInPEM }
        return try checked(key, fetch)
    }

    private static func checked(_ key: VerificationKey, _ fetch: Fetch?) throws(KeyError) -> OktaKeys {
        guard key.kind.isRSA else { throw .algorithm(Algorithm.rs256.rawValue) }
        return .rsa(key, fetch: fetch)
    }

    /// A JWK; its `kid`, if it has one, must be the token's. Numbers that cannot be used make tokens fail.
    public static func jwk(_ jwk: JSON, cache: OktaKeyCache = OktaKeyCache(), fetch: Fetch? = nil) -> OktaKeys {
        OktaKeys(.jwk(jwk), cache, fetch)
    }

    /// Several keys, of which a token names one by its `kid`.
    public static func set(_ keys: [VerificationKey]) -> OktaKeys { OktaKeys(.set(keys), OktaKeyCache(), nil) }

    /// The keys that the issuer publishes, by its discovery document.
    public static func discovery(cache: OktaKeyCache = OktaKeyCache(), fetch: @escaping Fetch) -> OktaKeys {
        OktaKeys(.discovery, cache, fetch)
    }
}

extension KeyKind {
    var isRSA: Bool {
        if case .rsa = self { true } else { false }
    }
}

/// Keys by name, kept without a lifetime until they fail.
///
/// An unknown name empties the cache of its issuer before the fetch. Concurrent look-ups of one name share one fetch.
/// Validators may share a cache; in the observed profile the keys of all issuers are then distinguished by `kid` alone.
///
/// Source: documented, validator page, Default usage.
public final class OktaKeyCache: Sendable {
    struct Place: Hashable, Sendable {
        let issuer: ExactText?
        let kid: ExactText
    }

    struct Entry: Sendable {
        let key: VerificationKey
        /// Distinguishes a key from the one that replaces it.
        let number: Int
    }

    private struct Content {
        var entries: [Place: Entry] = [:]
        var fetches: [Place: Task<Result<VerificationKey, OktaKeyProblem>, Never>] = [:]
        var lastNumber = 0

        mutating func keep(_ key: VerificationKey, at place: Place) {
            if entries.count >= OktaKeyCache.mostKeys { entries = [:] }
            lastNumber += 1
            entries[place] = Entry(key: key, number: lastNumber)
        }
    }

    private let content = Mutex(Content())

    /// ours: an issuer publishes two or three keys; beyond this number the cache starts over.
    static let mostKeys = 1000

    /// Creates an empty cache.
    public init() {}

    func entry(at place: Place) -> Entry? { content.withLock { $0.entries[place] } }

    func keep(_ key: VerificationKey, at place: Place) { content.withLock { $0.keep(key, at: place) } }

    /// The key at a place, fetched unless somebody else has fetched it meanwhile.
    ///
    /// - Parameters:
    ///   - failed: the entry that failed, which is removed.
    ///   - dropsIssuer: whether a missing key empties the cache of its issuer.
    func key(
        at place: Place, insteadOf failed: Entry?, dropsIssuer: Bool,
        fetch: @escaping @Sendable () async throws(OktaKeyProblem) -> VerificationKey
    ) async throws(OktaKeyProblem) -> VerificationKey {
        let step = content.withLock { content -> Step in
            if let entry = content.entries[place], entry.number != failed?.number { return .known(entry.key) }
            if let running = content.fetches[place] { return .running(running) }
            if failed != nil {
                content.entries[place] = nil
            } else if dropsIssuer {
                content.entries = content.entries.filter { $0.key.issuer != place.issuer }
            }
            let task = Task { await self.result(of: fetch, at: place) }
            content.fetches[place] = task
            return .running(task)
        }
        switch step {
        case .known(let key): return key
        case .running(let task): return try await task.value.get()
        }
    }

    private enum Step {
        case known(VerificationKey)
        case running(Task<Result<VerificationKey, OktaKeyProblem>, Never>)
    }

    private func result(
        of fetch: @Sendable () async throws(OktaKeyProblem) -> VerificationKey, at place: Place
    ) async -> Result<VerificationKey, OktaKeyProblem> {
        let result: Result<VerificationKey, OktaKeyProblem>
        do throws(OktaKeyProblem) {
            result = .success(try await fetch())
        } catch {
            result = .failure(error)
        }
        content.withLock { content in
            content.fetches[place] = nil
            if case .success(let key) = result { content.keep(key, at: place) }
        }
        return result
    }
}
