import Emulation
import JSON
import Synchronization
import Tokens

/// A token of a server as it reads it back; its members are unverified.
final class OktaToken: Sendable {
    let compact: CompactToken
    let keyID: String?
    let issuer: String?
    /// The `jti`.
    let id: String?
    /// The id of the user; `nil` in the token of a service or guest.
    let userID: String?
    let clientID: String?
    let scopes: [String]
    // One slot, since nearly every token meets one key only.
    private let verification = Mutex<(key: SigningKey, outcome: Finding.Outcome)?>(nil)

    /// Whether it is an ID token: an access token's id begins otherwise. Source: ref.
    var isIDToken: Bool { id?.hasPrefix("ID.") ?? false }

    init(bytes: [UInt8]) {
        let compact = CompactToken(bytes: bytes)
        self.compact = compact
        keyID = compact.header?["kid"]?.string
        let claims = compact.claims
        (issuer, id) = (claims?["iss"]?.string, claims?["jti"]?.string)
        (userID, clientID) = (claims?["uid"]?.string, claims?["cid"]?.string)
        scopes = claims?["scp"]?.array?.compactMap(\.string) ?? []
    }

    /// Whether that key made the signature; computed once, since it depends on nothing else.
    func signature(by key: SigningKey, _ finding: inout Finding?) -> Finding.Outcome {
        if finding == nil,
            let known = verification.withLock({ $0?.key.isIdentical(to: key) == true ? $0?.outcome : nil })
        {
            return known
        }
        let outcome = compact.signature(by: key.verificationKey, algorithm: .rs256, &finding)
        if finding == nil { verification.withLock { $0 = (key, outcome) } }
        return outcome
    }
}

/// A token that is presented to the server that should have issued it.
struct OktaTokenFacts: OktaRuleFacts {
    /// What only explains failures.
    private struct Setting {
        let vendor: Okta
        let server: OktaServer
        let sandbox: SandboxIdentity
        let changedKeys: [String: IssuerKeys]
    }

    let moment: Moment
    /// Released if there are no failures.
    private var setting: Setting?
    /// Where the token was sent; `nil` for one that is not in `Authorization`.
    var bearer: BearerToken?
    /// Whether the query has one.
    var isInQuery = false
    private(set) var token: OktaToken?
    /// The key of the server that the token names.
    private(set) var key: SigningKey?
    /// Whether only the server itself knows it.
    private(set) var isUnpublished = false
    /// Whether `iss` is the server's, in any form of the sandbox's address.
    private(set) var isOwn = false
    /// Whether it was revoked; `nil` until the state is asked.
    var isRevoked: Bool?

    var compact: CompactToken? { token?.compact }

    /// The facts about a token at a server.
    ///
    /// - Parameter base: the form of the address in which the client names the sandbox; others are tried after it.
    init(
        _ vendor: Okta, _ token: OktaToken?, at server: OktaServer, _ changedKeys: [String: IssuerKeys],
        in sandbox: SandboxIdentity, named base: String, _ moment: Moment
    ) {
        self.moment = moment
        self.token = token
        setting = Setting(vendor: vendor, server: server, sandbox: sandbox, changedKeys: changedKeys)
        guard let token else { return }
        // A file without a key is reported when it is asked to sign.
        let keys = (try? vendor.keys(of: server.id, among: changedKeys)) ?? nil
        key = token.keyID.flatMap { keys?.key(withID: $0) }
        if key == nil, let own = try? server.accessTokenKey?.read(), let id = own.id,
            token.keyID?.hasSameBytes(as: id) == true
        {
            (key, isUnpublished) = (own, true)
        }
        guard let issuer = token.issuer else { return }
        isOwn =
            server.isIssuer(issuer, at: base)
            || sandbox.addresses.contains { server.isIssuer(issuer, at: $0) }
    }

    init(_ token: OktaToken?, _ arrival: OktaArrival, at server: OktaServer) {
        self.init(
            arrival.vendor, token, at: server, arrival.authenticationContext.changedKeys, in: arrival.sandbox,
            named: arrival.base, arrival.moment)
    }

    mutating func dropExplanations() { setting = nil }

    // MARK: - Explanations

    /// The server's issuer in each form.
    var issuers: [String] {
        guard let setting else { return [] }
        return setting.sandbox.addresses.map(setting.server.issuer)
    }

    var keyIDs: [String] { setting.map { keyIDs(of: $0.server, $0) } ?? [] }

    var keyMistake: String? {
        guard let setting, let id = token?.keyID else { return nil }
        let owner = setting.vendor.accounts.servers.first { keyIDs(of: $0, setting).contains(exactly: id) }
        return owner.map { "It is a key of server \($0.id); this endpoint is that of server \(setting.server.id)." }
            ?? "The key was never published here, or it has left since."
    }

    var issuerMistake: String? {
        guard let setting, let issuer = token?.issuer else { return nil }
        let bases = setting.sandbox.addresses
        for server in setting.vendor.accounts.servers where bases.contains(where: { server.isIssuer(issuer, at: $0) }) {
            return "It is the issuer of server \(server.id); this endpoint is that of server \(setting.server.id)."
        }
        return
            "An issuer is the address of this server, which --public-base sets, in the form in which the client named "
            + "its sandbox when it got the token; then the path of the authorization server."
    }

    private func keyIDs(of server: OktaServer, _ setting: Setting) -> [String] {
        let keys = (try? setting.vendor.keys(of: server.id, among: setting.changedKeys)) ?? nil
        return keys?.published.compactMap(\.key.id) ?? []
    }
}

private typealias Rule = TokenRule<OktaTokenFacts>

/// The rules for tokens that come back to the server that issued them, in the order of its checks.
///
/// The order is ours: the signature comes before the claims, so that a forged token reveals nothing.
enum OktaTokenRules {
    /// An access token in `Authorization`.
    static let access = RuleList(
        [
            Rule("token-in-query", "no access_token in the query", "codes", orFail: .accessTokenInQuery) {
                facts, finding in facts.isInQuery ? finding.judge(.text("access_token in the query"), false) : nil
            },
            .bearerPresent("token-present", source: "ref; text inferred", .inferred, orFail: .accessTokenMissing),
        ] + Rule.bearerOnce(orFail: .accessTokenInvalid) + form + [notIDToken, expiryPresent, expiry])

    /// Any token of the server, wherever it was sent.
    static let any = RuleList(form + [expiryPresent, expiry])

    /// A token of the server, even an expired one.
    static let signed = RuleList(form)

    /// What the state knows about a token.
    static let use = RuleList([
        Rule("token-revoked", "a token that was not revoked", "guide:revoke-tokens", orFail: .accessTokenRevoked) {
            facts, finding in
            guard let isRevoked = facts.isRevoked else { return nil }
            return finding.judge(
                .text("\(facts.token?.id ?? "a token"), \(isRevoked ? "revoked" : "not revoked")"), !isRevoked)
        }
    ])

    private static let form =
        Rule.structure(orFail: .accessTokenInvalid)
        + [
            Rule(.algorithm(is: .rs256, source: "ref"), orFail: .accessTokenInvalid),
            Rule(.critical(), orFail: .accessTokenInvalid), Rule(.keyReferences),
            Rule("key-published", "kid of a published key of the server", "ref", orFail: .accessTokenInvalid) {
                facts, finding in
                guard let token = facts.token else { return nil }
                guard let header = token.compact.header else { return .notJudged }
                let outcome = finding.judge(header["kid"].map(Fact.json) ?? .nothing("no kid"), facts.key != nil)
                if outcome == .failed {
                    finding?.expected = .anyOf(facts.keyIDs)
                    finding?.note = facts.keyMistake
                }
                return outcome
            },
            Rule("signature", "RS256 by the key that kid names", "ref", orFail: .accessTokenInvalid) { facts, finding in
                guard let token = facts.token else { return nil }
                guard let key = facts.key else { return .notJudged }
                return token.signature(by: key, &finding)
            },
            Rule(
                "issuer", "the issuer of the server", "ref; any form of the sandbox's address: ours",
                orFail: .accessTokenInvalid
            ) { facts, finding in
                guard let token = facts.token else { return nil }
                guard let claims = token.compact.claims else { return .notJudged }
                let outcome = finding.judge(claims["iss"].map(Fact.json) ?? .absent, facts.isOwn)
                if outcome == .failed {
                    finding?.expected = .anyOf(facts.issuers)
                    finding?.note = facts.issuerMistake
                }
                return outcome
            },
        ]

    private static let notIDToken = Rule(
        "access-token", "an access token, whose jti begins with “AT.”", "ours", .ours, orFail: .accessTokenInvalid
    ) { facts, finding in
        guard let token = facts.token, token.compact.claims != nil else { return nil }
        if token.isIDToken {
            finding?.note = "An ID token tells the client who signed in; the access token is what it sends."
        }
        return finding.judge(token.id.map(Fact.text) ?? .nothing("no jti"), !token.isIDToken)
    }

    private static let expiryPresent = Rule(.claim("exp", is: .number, source: "ref"), orFail: .accessTokenInvalid)

    private static let expiry = Rule("expiry", "exp later than now", "ref", orFail: .accessTokenExpired) {
        facts, finding in
        guard let token = facts.compact, token.date("exp").seconds() != nil else { return nil }
        return token.expiry(at: facts.moment.unixSeconds, &finding)
    }
}
