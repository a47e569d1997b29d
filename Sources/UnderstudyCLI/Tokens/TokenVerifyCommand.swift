import ArgumentParser
import Emulation
import JSON
import Tokens

/// `understudy token verify`
struct TokenVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verifies a token by a key and rules of your own; no vendor is asked.",
        discussion: """
            Example: understudy token verify --secret secret --alg HS512 --require exp eyJ…
            Example: understudy token verify --key jwks.json --issuer https://issuer.example --audience app - < token.txt
            Example: understudy token verify --as ims-sdk --near-expiry 120 eyJ…

            With “-” the bytes of standard input are the token; only one line break at their end is left out.
            Exit codes: 0 valid, 1 not valid, 2 misuse.
            """)

    @Argument(help: "The token, or “-” for standard input.")
    var token: String

    @Option(help: "A file with the key: JWK, JWKS, PEM or DER.", completion: .file())
    var key: String?

    @Option(help: "An HMAC secret, its UTF-8 bytes.")
    var secret: String?

    @Option(
        name: .customLong("alg"), help: "An allowed algorithm; several may be given (all that the key can do).",
        completion: .list(Algorithm.allCases.map(\.rawValue)))
    var algorithms: [String] = []

    @Option(help: "The iss claim, byte for byte.")
    var issuer: String?

    @Option(help: "The aud claim, or a member of it.")
    var audience: String?

    @Option(help: "The nonce claim.")
    var nonce: String?

    @Option(name: .customLong("claim"), help: "A claim that must have this value, NAME=VALUE; JSON, or else a string.")
    var claims: [String] = []

    @Option(help: "Seconds of grace for exp, nbf and iat.")
    var leeway = 0.0

    @Option(help: "The moment of judging: Unix seconds or RFC 3339 (now).")
    var at: String?

    @Option(help: "Claims that must be there, by commas.")
    var require: String?

    @Flag(help: "Judge the JWS alone; the payload may be any bytes.")
    var signatureOnly = false

    @Option(
        name: .customLong("as"),
        help: "Judge as a vendor's client does before it sends the token: by its own rules, without a key.")
    var client: String?

    @Option(help: "With --as: seconds before exp from which the client wants a new token (the client's own).")
    var nearExpiry: Int?

    @Flag(help: "Write JSON.")
    var json = false

    func run() throws {
        let token = token == "-" ? CompactToken(bytes: try TokenInput.standardInputLine()) : CompactToken(token)
        if let client { return try judge(token, as: client) }
        if nearExpiry != nil { throw Misuse("--near-expiry goes with --as, which is missing.") }
        let keys = try KeyInput(file: key, secret: secret).keys
        let findings = try judgement(of: token, by: keys).findings
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

    private func judgement(of token: CompactToken, by keys: [VerificationKey]) throws -> TokenJudgement {
        let allowed = try algorithms.map { name in
            guard let algorithm = Algorithm(rawValue: name) else {
                let known = Algorithm.allCases.map(\.rawValue)
                throw Misuse("--alg \(name) is no algorithm\(Nearest.hint(to: name, among: known))")
            }
            return algorithm
        }
        var judgement = TokenJudgement(token: token, moment: try MomentOption.parse(at), leeway: leeway)
        judgement.judgeSignature(by: keys, allowed: allowed, isSignatureOnly: signatureOnly)
        guard !signatureOnly else { return judgement }
        let required = Set((require ?? "").split(separator: ",").map(String.init))
        judgement.judgeTimes(required: required)
        judgement.judgeNames(issuer: issuer, audience: audience, nonce: nonce)
        judgement.judgeClaims(try NamedValue.members(claims, option: "--claim"))
        judgement.judgePresence(of: required)
        return judgement
    }
}

/// The rules of `token verify`, in order.
struct TokenJudgement {
    let token: CompactToken
    let moment: Moment
    let leeway: Double
    private(set) var findings: [Finding] = []

    init(token: CompactToken, moment: Moment, leeway: Double) {
        self.token = token
        self.moment = moment
        self.leeway = leeway
    }

    mutating func judgeSignature(by keys: [VerificationKey], allowed: [Algorithm], isSignatureOnly: Bool) {
        // A JWS need not have a JSON payload.
        findings += token.structure.filter { !isSignatureOnly || !$0.check.hasPrefix("payload") }
        let possible = Algorithm.allCases.filter { algorithm in
            keys.contains { $0.algorithms.contains(algorithm) } && (allowed.isEmpty || allowed.contains(algorithm))
        }
        findings.append(token.algorithm(isOneOf: possible, source: "the key, and --alg"))
        findings.append(token.critical())
        if let references = token.keyReferences() { findings.append(references) }
        let keys = self.keys(named: keys)
        guard let algorithm = token.namedAlgorithm(among: possible) else {
            findings.append(Finding("signature", .notJudged, note: "No key does the token's algorithm."))
            return
        }
        findings.append(signature(by: keys, algorithm))
    }

    /// The finding of the first key that fits.
    private func signature(by keys: [VerificationKey], _ algorithm: Algorithm) -> Finding {
        let candidates = keys.map { token.signature(by: $0, algorithm: algorithm) }
        return candidates.first { $0.outcome == .passed } ?? candidates.first
            ?? Finding("signature", .notJudged, note: "No key is left to judge it by.")
    }

    /// `key-id`: the header's `kid`, if present, is a string and selects the key.
    ///
    /// - Returns: the candidate keys: those with that id, or all if none has an id, as in PEM files and secrets.
    ///   Source: RFC 7515 section 4.1.4.
    private mutating func keys(named keys: [VerificationKey]) -> [VerificationKey] {
        guard let kid = token.header?["kid"] else { return keys }
        let source = "RFC 7515 section 4.1.4"
        guard let id = kid.string else {
            findings.append(Finding("key-id", .failed, expected: .text("a string"), found: .json(kid), source: source))
            return []
        }
        let ids = keys.compactMap(\.id)
        if ids.isEmpty { return keys }
        let named = keys.filter { $0.id?.hasSameBytes(as: id) == true }
        findings.append(
            Finding(
                "key-id", named.isEmpty ? .failed : .passed, expected: .anyOf(ids), found: .json(kid), source: source))
        return named
    }

    mutating func judgeTimes(required: Set<String>) {
        let now = moment.unixSeconds
        func rules(_ claim: String) -> TimeRules { TimeRules(leeway: leeway, required: required.contains(claim)) }
        findings.append(token.expiry(at: now, rules("exp")))
        findings.append(token.notBefore(at: now, rules("nbf")))
        findings.append(token.issuedAt(at: now, rules("iat")))
    }

    mutating func judgeNames(issuer: String?, audience: String?, nonce: String?) {
        if let issuer { findings.append(token.claim("iss", equals: issuer)) }
        if let audience { findings.append(token.audience(isOneOf: [audience])) }
        if let nonce { findings.append(token.claim("nonce", equals: nonce)) }
    }

    mutating func judgeClaims(_ claims: JSONObject) {
        for claim in claims { findings.append(token.claim(claim.name, equals: claim.value)) }
    }

    mutating func judgePresence(of names: Set<String>) {
        for name in names.sorted() { findings.append(token.claim(name, is: .any)) }
    }
}
