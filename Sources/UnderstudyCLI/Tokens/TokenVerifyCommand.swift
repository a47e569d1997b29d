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
        let allowed = try algorithms.map { name in
            guard let algorithm = Algorithm(rawValue: name) else {
                let known = Algorithm.allCases.map(\.rawValue)
                throw Misuse("--alg \(name) is not an algorithm\(Nearest.hint(to: name, among: known))")
            }
            return algorithm
        }
        let now = try MomentOption.parse(at).unixSeconds
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
