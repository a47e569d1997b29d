import ArgumentParser
import Emulation
import JSON
import Tokens
import Understudy

struct TokenVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verifies a token by your own key and rules, or as a vendor's client does.",
        discussion: """
            Example: understudy token verify --secret secret --alg HS512 --require exp eyJ…
            Example: understudy token verify --key jwks.json --issuer https://issuer.example --audience app - < token.txt
            Example: understudy token verify --as ims-sdk --near-expiry 120 eyJ…
            Example: understudy token verify --as okta --issuer http://localhost:8080/oauth2/default --audience app eyJ…

            With --as, the token is judged like a vendor's client would, by the client's own rules; options that the client
            does not take are refused. A client that verifies signatures fetches the issuer's keys unless a key is given.

            With “-”, the token is read from standard input; one line break at its end is ignored.
            Exit codes: 0 valid, 1 not valid, 2 misuse.
            """)

    @Argument(help: "The token, or “-” for standard input.")
    var token: String

    @Option(help: "A file with the key: JWK, JWKS, PEM or DER.", completion: .file())
    var key: String?

    @Option(help: "An HMAC secret; its UTF-8 bytes are used.")
    var secret: String?

    @Option(
        name: .customLong("alg"), help: "An allowed algorithm; may be repeated (default: all that suit the key).",
        completion: .list(Algorithm.allCases.map(\.rawValue)))
    var algorithms: [String] = []

    @Option(help: "The expected iss claim, byte for byte.")
    var issuer: String?

    @Option(help: "The expected aud claim, or one of its members.")
    var audience: String?

    @Option(help: "The expected nonce claim.")
    var nonce: String?

    @Option(
        name: .customLong("claim"),
        help: "A claim with its expected value, NAME=VALUE; the value is JSON, otherwise or with --as a string.")
    var claims: [String] = []

    @Option(help: "Seconds of leeway for exp, nbf and iat (default: 0; with --as, the client's own).")
    var leeway: Double?

    @Option(help: "The time at which to judge: Unix seconds or RFC 3339 (default: now).")
    var at: String?

    @Option(help: "Claims that must be present, separated by commas.")
    var require: String?

    @Flag(help: "Judge only the JWS; the payload may be any bytes.")
    var signatureOnly = false

    @Option(
        name: .customLong("as"),
        help: "Judge like a vendor's client before it sends or trusts the token, by its own rules.",
        completion: .list(Catalog.checkers.map(\.name)))
    var client: String?

    @Flag(help: "Write JSON.")
    var json = false

    @OptionGroup(title: "Options with --as") var options: ClientOptions

    func run() throws {
        let token = token == "-" ? CompactToken(bytes: try TokenInput.standardInputLine()) : CompactToken(token)
        if let client { return try judge(token, as: client) }
        guard options.given.isEmpty else { throw Misuse("\(options.given.typed): only with --as, which is missing.") }
        let input = try KeyInput(file: key, secret: secret)
        let findings = input.skipped + (try findings(on: token, by: input.keys))
        let isValid = !findings.contains { $0.outcome == .failed }
        if json {
            Output.json([
                "valid": .bool(isValid), "header": token.header.map(JSON.object) ?? .null,
                "claims": token.claims.map(JSON.object) ?? .null, "findings": .array(findings.map(\.json)),
            ])
        } else {
            Output.line(isValid ? "valid" : "not valid")
            FindingTable.show(findings.map(\.json))
        }
        if !isValid { throw AnswerIsNo() }
    }

    /// What the rules find, in order.
    private func findings(on token: CompactToken, by keys: [VerificationKey]) throws -> [Finding] {
        let known = Algorithm.allCases.map(\.rawValue)
        let allowed = try algorithms.map { name in
            try Misuse.require(
                Algorithm(rawValue: name), "--alg \(name) is not an algorithm\(Nearest.hint(to: name, among: known))")
        }
        let now = try MomentOption.parse(at).unixSeconds
        if let leeway, !leeway.isFinite || leeway < 0 { throw Misuse("--leeway \(leeway) is no number from 0 on.") }
        // A JWS need not have a JSON payload.
        var findings = token.structure.filter { !signatureOnly || !$0.check.hasPrefix("payload") }
        findings += token.signatureFindings(by: keys, allowed: allowed)
        if signatureOnly { return findings }
        let required = Set((require ?? "").split(separator: ",").map(String.init))
        func rules(_ claim: String) -> TimeRules {
            TimeRules(leeway: leeway ?? 0, required: required.contains(claim))
        }
        findings += [
            Finding("expiry", source: "RFC 7519 section 4.1.4") { token.expiry(at: now, rules("exp"), &$0) },
            Finding("not-before", source: "RFC 7519 section 4.1.5") { token.notBefore(at: now, rules("nbf"), &$0) },
            Finding("issued-at", source: "RFC 7519 section 4.1.6") {
                token.notBefore(at: now, claim: "iat", rules("iat"), &$0)
            },
        ]
        if let issuer { findings += [TokenCheck.claim("iss", equals: issuer)].compactMap(token.finding) }
        if let audience {
            findings.append(
                Finding("audience", source: "RFC 7519 section 4.1.3") { token.audience(isOneOf: [audience], &$0) })
        }
        var checks = nonce.map { [TokenCheck.claim("nonce", equals: $0)] } ?? []
        checks += try NamedValue.members(claims, option: "--claim").map { .claim($0.name, equals: $0.value) }
        checks += required.sorted().map { .claim($0, is: .any) }
        return findings + checks.compactMap(token.finding)
    }
}

extension CompactToken {
    fileprivate func signatureFindings(by keys: [VerificationKey], allowed: [Algorithm]) -> [Finding] {
        let possible = Algorithm.allCases.filter { algorithm in
            keys.contains { $0.algorithms.contains(algorithm) } && (allowed.isEmpty || allowed.contains(algorithm))
        }
        var findings = [algorithm(isOneOf: possible, source: "the key, and --alg")]
        findings += [TokenCheck.critical(), .keyReferences].compactMap(finding)
        let (keys, keyFinding) = keysNamed(among: keys)
        findings += [keyFinding].compactMap(\.self)
        guard let algorithm = namedAlgorithm(among: possible) else {
            return findings + [Finding("signature", .notJudged, note: "No key supports the token's algorithm.")]
        }
        let candidates = keys.map { ($0, signature(by: $0, algorithm: algorithm)) }
        // The first key that fits.
        guard let (key, finding) = candidates.first(where: { $0.1.outcome == .passed }) ?? candidates.first else {
            return findings + [Finding("signature", .notJudged, note: "No key is left to judge it by.")]
        }
        return findings + [finding, key.strengthFinding(for: algorithm)].compactMap(\.self)
    }

    /// `key-id`: the header's `kid`, if present, is a string and selects the key.
    ///
    /// - Returns: the candidate keys: those with that id, or all if none has an id, as in PEM files and secrets.
    ///   Source: RFC 7515 section 4.1.4.
    private func keysNamed(among keys: [VerificationKey]) -> ([VerificationKey], Finding?) {
        guard let kid = header?["kid"] else { return (keys, nil) }
        let source = "RFC 7515 section 4.1.4"
        guard let id = kid.string else {
            return ([], Finding("key-id", .failed, expected: .text("a string"), found: .json(kid), source: source))
        }
        let ids = keys.compactMap(\.id)
        if ids.isEmpty { return (keys, nil) }
        let named = keys.filter { $0.id?.hasSameBytes(as: id) == true }
        let outcome = named.isEmpty ? Finding.Outcome.failed : .passed
        return (named, Finding("key-id", outcome, expected: .anyOf(ids), found: .json(kid), source: source))
    }
}

/// `token verify --as NAME`: what a vendor's client would do with the token.
extension TokenVerifyCommand {
    /// The time for each request for keys: a person waits longer than an app, and a busy machine is no finding.
    private static let keyTimeLimit = Duration.seconds(30)

    func judge(_ token: CompactToken, as name: String) throws {
        let checker = try checker(named: name)
        try checkOptions(of: checker)
        let (settings, moment) = (try settings(), try MomentOption.parse(at))
        if let problem = checker.complaint(settings) { throw Misuse("--as \(name): \(problem)") }
        let asks = checker.options.contains(.issuer)
        let trust = try asks ? LocalAuthority.trust(OptionSources(configurationFile: nil)) : .system
        let verdict = Waiting.until {
            await checker.verdict(on: token, at: moment, settings) {
                await $0.send(trust: trust, following: 5, within: Self.keyTimeLimit)
            }
        }
        if json {
            Output.json(verdict.answer)
        } else {
            verdict.summary.map { Output.line(Output.printable($0)) }
                ?? Output.json(.object(verdict.result), isPretty: false)
            FindingTable.show(verdict.findings.map(\.json))
        }
        if !verdict.isUsable { throw AnswerIsNo() }
    }

    private func checker(named name: String) throws -> TokenChecker {
        try Misuse.require(
            Catalog.checkers.first { $0.name == name }, "--as: no client is called", name,
            among: Catalog.checkers.map(\.name))
    }

    /// A client has its own rules; options that it does not take would be ignored.
    private func checkOptions(of checker: TokenChecker) throws {
        let own = [
            ("--key", key != nil), ("--secret", secret != nil), ("--alg", !algorithms.isEmpty),
            ("--require", require != nil), ("--signature-only", signatureOnly),
        ].filter(\.1).map(\.0)
        let shared = [
            (CheckerOption.issuer, issuer != nil), (.audience, audience != nil), (.nonce, nonce != nil),
            (.leeway, leeway != nil), (.claims, !claims.isEmpty),
        ].filter(\.1).map(\.0)
        let refused = own + (shared + options.given).filter { !checker.options.contains($0) }.map(\.typed)
        guard refused.isEmpty else {
            let taken = CheckerOption.allCases.filter(checker.options.contains).typed
            throw Misuse(
                "\(refused.joined(separator: ", ")) cannot be combined with --as \(checker.name): the client has its own rules"
                    + (taken.isEmpty ? "." : " and takes \(taken)."))
        }
    }

    private func settings() throws -> CheckerSettings {
        var settings = CheckerSettings(key: try givenKey())
        (settings.issuer, settings.audience, settings.nonce) = (issuer, audience, nonce)
        (settings.clientID, settings.scopes, settings.type) = (options.cid, options.scp, options.typ)
        (settings.checksExpiry, settings.checksIssuedAt) = (options.exp, options.iat)
        settings.claims = try claims.map { try NamedValue.parse($0, option: "--claim") }
        if let leeway {
            settings.leeway = try Misuse.require(
                Int(exactly: leeway), "--leeway \(leeway) is not a whole number of seconds.")
        }
        if let text = options.profile {
            let profile = try Misuse.require(
                BehaviourProfile(rawValue: text),
                "--profile \(text) is not a profile (\(BehaviourProfile.names.joined(separator: ", "))).")
            settings.profile = profile
        }
        if let seconds = options.nearExpiry {
            if seconds < 0 { throw Misuse("--near-expiry \(seconds) is below 0.") }
            settings.margin = .seconds(seconds)
        }
        return settings
    }

    private func givenKey() throws -> CheckerKey? {
        switch (options.jwk, options.rsaKey) {
        case (nil, nil): return nil
        case (let path?, nil): return .jwk(try KeyInput.jwk(path))
        case (nil, let path?): return .rsa(try KeyInput.publicKey(path))
        case (_?, _?): throw Misuse("give one key: --jwk FILE or --rsa-key FILE.")
        }
    }
}

/// The options of `token verify` that only vendors' clients take.
struct ClientOptions: ParsableArguments {
    @Option(help: "The expected cid claim.")
    var cid: String?

    @Option(help: "The scopes that must be granted, separated by spaces.")
    var scp: String?

    @Option(help: "The expected typ in the header, if it has one.")
    var typ: String?

    @Flag(inversion: .prefixedNo, help: "Whether to judge exp (default: the client's own).")
    var exp: Bool?

    @Flag(inversion: .prefixedNo, help: "Whether to judge iat (default: the client's own).")
    var iat: Bool?

    @Option(help: "A file with the key as a JWK; without a key the client asks the issuer.", completion: .file())
    var jwk: String?

    @Option(
        help: "A file with an RSA key or a certificate, PEM or DER; the token need not name the key.",
        completion: .file())
    var rsaKey: String?

    @Option(help: "How the client behaves: documented or observed.", completion: .profileNames)
    var profile: String?

    @Option(help: "How many seconds before exp the client wants a new token (default: the client's own).")
    var nearExpiry: Int?

    var given: [CheckerOption] {
        [
            (CheckerOption.clientID, cid != nil), (.scopes, scp != nil), (.type, typ != nil), (.expiry, exp != nil),
            (.issuedAt, iat != nil), (.jwk, jwk != nil), (.rsaKey, rsaKey != nil), (.profile, profile != nil),
            (.nearExpiry, nearExpiry != nil),
        ].filter(\.1).map(\.0)
    }
}

extension BehaviourProfile {
    static var names: [String] { allCases.map(\.rawValue) }
}

extension CheckerOption {
    var typed: String {
        let isFlag = self == .expiry || self == .issuedAt
        return isFlag ? "--\(rawValue)/--no-\(rawValue)" : "--\(rawValue)"
    }
}

extension [CheckerOption] {
    var typed: String { map(\.typed).joined(separator: ", ") }
}

/// The key of `token verify`, from a file in any usual form or from a secret.
struct KeyInput {
    let keys: [VerificationKey]
    /// What was left out of a set, each with the reason.
    let skipped: [Finding]

    init(file: String?, secret: String?) throws {
        do {
            switch (file, secret) {
            case (nil, let secret?): (keys, skipped) = ([try VerificationKey.secret(secret)], [])
            case (let file?, nil):
                let set = try Self.keys(of: file)
                (keys, skipped) = (set.keys, set.skipped.map(\.finding))
            default: throw Misuse("give one key: --key FILE or --secret TEXT.")
            }
        } catch let error as KeyError {
            throw Misuse("\(file.map { "the key file \($0)" } ?? "the secret") cannot be used: \(error).")
        }
    }

    static func jwk(_ path: String) throws -> JSON {
        let bytes = try content(of: path)
        // What is wrong with the text hardly matters: the wrong file was named.
        guard let value = try? JSON.parse(bytes), value.object != nil, value["keys"] == nil else {
            let why = KeyForm.mistake(in: bytes).map { "; " + $0 } ?? ""
            throw Misuse("the key file \(path) is not a JWK: a JSON object with the members of one key\(why).")
        }
        return value
    }

    /// A public key in PEM or DER; of several the first, as in a certificate with its chain.
    static func publicKey(_ path: String) throws -> VerificationKey {
        do {
            guard let key = try encodedKeys(try content(of: path)).first else { throw KeyError.noKeyInPEM }
            return key
        } catch let error as KeyError {
            throw Misuse("the key file \(path) cannot be used: \(error).")
        }
    }

    private static func content(of path: String) throws -> [UInt8] {
        guard let bytes = try? Files.content(of: path) else { throw Misuse("the key file \(path) cannot be read.") }
        return bytes
    }

    private static func keys(of path: String) throws -> KeySet {
        let bytes = try content(of: path)
        // Anything but JSON is PEM or DER.
        guard let value = try? JSON.parse(bytes) else { return KeySet(keys: try encodedKeys(bytes)) }
        if let mistake = KeyForm.mistake(in: value) { throw KeyError.unreadable(mistake) }
        guard value["keys"] != nil else { return KeySet(keys: [try VerificationKey.jwk(value, acceptsPrivate: true)]) }
        let set = try KeySet(jwks: value, acceptsPrivate: true)
        guard set.keys.isEmpty else { return set }
        let reasons = set.skipped.map { "\($0.name): \($0.reason)" }
        throw KeyError.unreadable(
            reasons.isEmpty ? "its array “keys” is empty" : "no key in it can be used; \(Nearest.list(reasons))")
    }

    private static func encodedKeys(_ bytes: [UInt8]) throws -> [VerificationKey] {
        if bytes.firstRange(of: "-----BEGIN".utf8) != nil { return try VerificationKey.pem(bytes) }
        do {
            return [try VerificationKey.certificate(der: bytes)]
        } catch {
            return [try VerificationKey.publicKey(der: bytes)]
        }
    }
}
