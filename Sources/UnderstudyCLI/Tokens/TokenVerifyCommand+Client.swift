import ArgumentParser
import Emulation
import HTTPEngine
import JSON
import Tokens
import Understudy

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
        let known = Catalog.checkers.map(\.name)
        guard let checker = Catalog.checkers.first(where: { $0.name == name }) else {
            let list = known.isEmpty ? "no vendor's client has rules" : "expected \(known.joined(separator: " or "))"
            throw Misuse("--as \(name) is unknown; \(list)\(Nearest.hint(to: name, among: known))")
        }
        return checker
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
