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
        if let problem = checker.problem(with: settings) { throw Misuse("--as \(name): \(problem)") }
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
            Output.line(verdict.summary.map(Output.printable) ?? JSON.object(verdict.result).text)
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
                "\(refused.joined(separator: ", ")) cannot go with --as \(checker.name): the client has its own rules"
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
            guard let whole = Int(exactly: leeway) else {
                throw Misuse("--leeway \(leeway) is not a whole number of seconds.")
            }
            settings.leeway = whole
        }
        if let text = options.profile {
            guard let profile = BehaviourProfile(rawValue: text) else {
                throw Misuse("--profile \(text) is not a profile (\(BehaviourProfile.names.joined(separator: ", "))).")
            }
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
