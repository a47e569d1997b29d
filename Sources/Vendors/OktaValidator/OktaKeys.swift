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

    /// What was given; `nil` for keys that are discovered.
    let given: CheckerKey?
    let cache: OktaKeyCache
    let fetch: Fetch?

    init(_ given: CheckerKey?, _ fetch: Fetch?, in cache: OktaKeyCache = OktaKeyCache()) {
        (self.given, self.cache, self.fetch) = (given, cache, fetch)
    }

    /// An RSA key, used whatever `kid` a token has.
    public static func rsa(_ key: VerificationKey, fetch: Fetch? = nil) -> OktaKeys { OktaKeys(.rsa(key), fetch) }

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
        OktaKeys(.jwk(jwk), fetch, in: cache)
    }

    /// Several keys, of which a token names one by its `kid`.
    public static func set(_ keys: [VerificationKey]) -> OktaKeys { OktaKeys(.set(keys), nil) }

    /// The keys that the issuer publishes, by its discovery document.
    public static func discovery(cache: OktaKeyCache = OktaKeyCache(), fetch: @escaping Fetch) -> OktaKeys {
        OktaKeys(nil, fetch, in: cache)
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

enum OktaKeyResult: Sendable {
    case found(VerificationKey, OktaKeyOrigin)
    case failed(OktaKeyProblem)
}

struct OktaKeyProblem: Error, CustomStringConvertible {
    let failure: OktaTokenFailure
    let description: String
    /// Whether the shipped library throws nothing here, but stops the app.
    var stopsShippedApp = false

    init(_ failure: OktaTokenFailure, _ description: String) {
        (self.failure, self.description) = (failure, description)
    }
}

/// Looks for the key of a token, as far as possible without a request.
struct OktaKeyLookUp: Sendable {
    enum Need {
        /// Nothing: the token cannot be read.
        case none
        /// The key is available; the entry is that of the cache, if it came from there.
        case have(OktaKeyResult, OktaKeyCache.Entry?)
        /// The key with that name must be fetched.
        case fetch(String)
    }

    private let keys: OktaKeys
    private let profile: BehaviourProfile
    private let issuer: String?
    private let discovery: OktaDiscovery?

    init(_ keys: OktaKeys, issuer: String?, _ profile: BehaviourProfile) {
        (self.keys, self.issuer, self.profile) = (keys, issuer, profile)
        discovery = issuer.flatMap { issuer in
            keys.fetch.map { OktaDiscovery(issuer: issuer.withoutEndingSlash, profile: profile, fetch: $0) }
        }
    }

    func need(of token: CompactToken) -> Need {
        guard token.isWellFormed, let header = token.header else { return .none }
        if case .rsa(let key)? = keys.given { return .have(.found(key, .rsaKey), nil) }
        // The shipped library prints a number for a name, too.
        let kid = header["kid"].flatMap { $0.string ?? (profile == .observed ? $0.number?.literal : nil) }
        if case .jwk(let jwk)? = keys.given, profile == .documented, jwk["kid"] == nil {
            return .have(given(jwk, id: nil), nil)
        }
        guard let kid else {
            let found =
                header["kid"].map { "kid is \($0.text.prefix(200)), which is not a string" } ?? "the header has no kid"
            return .have(.failed(OktaKeyProblem(.keyIDMissing, found)), nil)
        }
        switch keys.given {
        case .set(let keys)?: return .have(known(kid, among: keys), nil)
        case .jwk(let jwk)?: return need(of: kid, by: jwk)
        case .rsa(let key)?: return .have(.found(key, .rsaKey), nil)
        case nil: return need(of: kid)
        }
    }

    private func need(of kid: String) -> Need {
        guard let entry = keys.cache.entry(at: place(of: kid)) else { return .fetch(kid) }
        return .have(.found(entry.key, .cache), entry)
    }

    private func need(of kid: String, by jwk: JSON) -> Need {
        // Only the observed profile comes here without one, and sets the JWK aside.
        guard let own = jwk["kid"] else { return need(of: kid) }
        guard own.string?.hasSameBytes(as: kid) == true else {
            let problem =
                "the token names the key \(JSON.string(kid).text.prefix(200)), the JWK is \(own.text.prefix(200))"
            return .have(.failed(OktaKeyProblem(.keyIDMismatch, problem)), nil)
        }
        guard profile == .observed else { return .have(given(jwk, id: kid), nil) }
        // A cached key wins even over a JWK that is passed in, which is cached in turn. Source: observed, jwt.
        if let entry = keys.cache.entry(at: place(of: kid)) { return .have(.found(entry.key, .cache), entry) }
        let result = given(jwk, id: kid)
        if case .found(let key, _) = result { keys.cache.keep(key, at: place(of: kid)) }
        return .have(result, nil)
    }

    private func given(_ jwk: JSON, id: String?) -> OktaKeyResult {
        do throws(KeyError) {
            return .found(try VerificationKey.okta(jwk, id: id, profile), .jwk)
        } catch {
            return .failed(OktaKeyProblem(.key, "the JWK cannot be used: \(error)"))
        }
    }

    private func known(_ kid: String, among keys: [VerificationKey]) -> OktaKeyResult {
        guard let key = keys.first(where: { $0.id?.hasSameBytes(as: kid) == true }) else {
            let list = keys.compactMap(\.id).map { JSON.string($0).text }.joined(separator: ", ")
            return .failed(
                OktaKeyProblem(.noKey, "no key is called \(JSON.string(kid).text.prefix(200)); there are \(list)"))
        }
        guard key.kind.isRSA else { return .failed(OktaKeyProblem(.key, "\(key) is not an RSA key")) }
        return .found(key, .given)
    }

    /// Source: by kid alone observed, jwt; by issuer too ours, since two issuers may use the same name.
    private func place(of kid: String) -> OktaKeyCache.Place {
        OktaKeyCache.Place(issuer: profile == .documented ? issuer.map { ExactText($0) } : nil, kid: ExactText(kid))
    }

    /// Fetches the key with that name.
    ///
    /// - Parameter entry: the cached key that failed.
    func fetch(_ kid: String, insteadOf entry: OktaKeyCache.Entry?) async -> OktaKeyResult {
        guard let discovery else {
            return .failed(OktaKeyProblem(.noWellKnown, "the key has to be fetched, and no request can be made"))
        }
        do throws(OktaKeyProblem) {
            let key = try await keys.cache.key(
                at: place(of: kid), insteadOf: entry, dropsIssuer: profile == .documented
            ) { () async throws(OktaKeyProblem) in try await discovery.key(named: kid) }
            return .found(key, .discovery)
        } catch {
            return .failed(error)
        }
    }

    /// What the issuer calls itself; `nil` if it does not say.
    func issuerName() async -> String? {
        do throws(OktaKeyProblem) {
            return try await discovery?.document()["issuer"]?.string
        } catch {
            // The option is compared instead.
            return nil
        }
    }
}

/// Finds a key by the issuer's discovery document.
///
/// Source: documented, validator page; that status and content type are unread, observed, jwt.
struct OktaDiscovery: Sendable {
    /// The issuer without a slash at its end.
    let issuer: String
    let profile: BehaviourProfile
    let fetch: OktaKeys.Fetch

    func document() async throws(OktaKeyProblem) -> JSONObject {
        try await object(at: issuer + "/.well-known/openid-configuration", orFail: .noWellKnown)
    }

    func key(named kid: String) async throws(OktaKeyProblem) -> VerificationKey {
        let document = try await document()
        guard let url = document["jwks_uri"]?.string else {
            throw OktaKeyProblem(.noKeysURL, "the discovery document of \(issuer) has no jwks_uri")
        }
        let set = try await object(at: url, orFail: .noKey)
        guard let entries = set["keys"]?.array else { throw OktaKeyProblem(.noKey, "\(url) has no array “keys”") }
        for (index, entry) in entries.enumerated() {
            if profile == .observed { try checkStrings(of: entry, index, at: url) }
            guard let name = entry["kid"]?.string, name.hasSameBytes(as: kid) else { continue }
            do throws(KeyError) {
                return try VerificationKey.okta(entry, id: kid, profile)
            } catch {
                throw OktaKeyProblem(.key, "the key \(JSON.string(kid).text) of \(url) cannot be used: \(error)")
            }
        }
        throw OktaKeyProblem(.noKey, "\(url) has no key \(JSON.string(kid).text.prefix(200))")
    }

    /// The shipped library casts each entry up to the one that it wants to a dictionary of strings.
    private func checkStrings(of entry: JSON, _ index: Int, at url: String) throws(OktaKeyProblem) {
        let other = entry.object.map { $0.first { $0.value.string == nil }?.name }
        guard let name = other ?? "entry" else { return }
        var problem = OktaKeyProblem(
            .noKey, "\(name) of key \(index) of \(url) is not a string: the shipped library stops the app here")
        problem.stopsShippedApp = true
        throw problem
    }

    private func object(at url: String, orFail failure: OktaTokenFailure) async throws(OktaKeyProblem) -> JSONObject {
        do throws(KeyFetchProblem) {
            return try object(in: await fetch(KeyRequest(url: url)))
        } catch {
            let named: OktaTokenFailure =
                switch error {
                case .slow, .connectionLost: .offline
                default: failure
                }
            throw OktaKeyProblem(named, "GET \(url): \(error)")
        }
    }

    private func object(in answer: KeyAnswer) throws(KeyFetchProblem) -> JSONObject {
        switch answer {
        case .failed(let problem): throw problem
        case .answered(let status, _, let body):
            if profile == .documented, status.code != 200 { throw .status(status.code) }
            guard body.count <= KeyRequest.longestBody else { throw .tooLarge }
            let value: JSON
            do { value = try JSON.parse(body) } catch { throw .notJSON("\(error)") }
            guard let object = value.object else { throw .otherForm("an object") }
            return object
        }
    }
}

extension VerificationKey {
    /// The RSA key of a JWK; only `kty`, `n` and `e` are read, and in the observed profile only the numbers.
    static func okta(_ jwk: JSON, id: String?, _ profile: BehaviourProfile) throws(KeyError) -> VerificationKey {
        let read = ["kty", "n", "e"]
        // Repeated members stay, so that they are refused.
        var members = JSONObject((jwk.object ?? [:]).filter { read.contains($0.name) }.map { ($0.name, $0.value) })
        if profile == .observed {
            members["kty"] = "RSA"
            for name in ["n", "e"] {
                guard let bytes = members[name]?.string.flatMap({ Base64URL.decodeLeniently($0.utf8) }) else {
                    continue
                }
                members[name] = .string(Base64URL.encode(bytes))
            }
        }
        guard let type = members["kty"] else { throw .member("kty", "is absent") }
        guard type.string?.hasSameBytes(as: "RSA") == true else { throw .member("kty", "is \(type.text), not \"RSA\"") }
        var key = try Self.jwk(.object(members))
        key.id = id
        return key
    }
}
