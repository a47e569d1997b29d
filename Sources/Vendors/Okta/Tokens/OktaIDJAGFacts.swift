import Emulation
import JSON
import Tokens

/// An ID-JAG that a client presents, and what it has to fit.
struct OktaIDJAGFacts: RuleFacts {
    typealias Failure = OktaFailure

    let token: CompactToken
    let moment: Moment
    let clientID: String
    /// The issuers whose assertions count: the org server's in every form of its address.
    let trusted: [String]
    /// The same of the server that is to take it.
    let audiences: [String]
    /// The published key of this sandbox that the header names.
    var key: VerificationKey?
    /// Whether it was used before.
    var isUsed = false
    /// `scope` of the request, which must not be there.
    var requestedScope: String?
    /// The status of the user; `nil` when there is none.
    var status: OktaUser.Status?

    var compact: CompactToken? { token }
}

extension OktaIDJAGFacts {
    init(
        _ text: String, _ request: OktaTokenRequest, _ call: OktaCall, in state: OktaState
    ) throws(OktaRefusal) {
        let servers = call.vendor.accounts.servers
        let bases = call.arrival.sandbox.publicBase.addresses(of: call.arrival.sandbox.name)
        self.init(
            token: CompactToken(text), moment: call.moment, clientID: request.client.id,
            trusted: servers.filter(\.isOrg).flatMap { server in bases.map(server.issuer) },
            audiences: bases.map(request.server.issuer), requestedScope: request.parameters["scope"])
        for server in servers where key == nil {
            key = try call.vendor.verificationKey(of: server, named: token, in: state)
        }
        let id = token.claims?["jti"]?.string
        isUsed = id.map { state.isUsed(.idJAG, $0, of: request.server.id, at: call.moment) } ?? false
        status = token.claims?["sub"]?.string.flatMap { state.users[$0]?.status }
    }
}

/// The rules of ID-JAGs, in the order of the checks, which is ours. Source of the failures: codes.
enum OktaIDJAGRules {
    private typealias Rule = TokenRule<OktaIDJAGFacts>

    static let list = RuleList(form + times + content + use)

    private static let form =
        Rule.structure(orFail: .idJAGSignature, named: "id-jag-") + [
            Rule(.critical(), named: "id-jag-critical", orFail: .idJAGSignature),
            Rule(
                .type(is: OktaIDJAG.type, required: true, source: "pyclient"), named: "id-jag-type", .observed,
                orFail: .idJAGSignature),
            Rule(.algorithm(is: .rs256, source: "ref"), named: "id-jag-algorithm", orFail: .idJAGSignature),
            Rule(
                "id-jag-signature", expects: .text("a signature by a published key"), source: "codes",
                orFail: .idJAGSignature
            ) { facts, finding in facts.token.signature(byPublished: facts.key, &finding) },
            Rule(
                "id-jag-issuer", expects: .text("iss of the org server"), source: "codes", orFail: .idJAGIssuer
            ) { facts, finding in facts.token.issuer(isOneOf: facts.trusted, &finding) },
        ]

    private static let times = [
        Rule(
            "id-jag-expiry", expects: .text("exp later than now"), source: "codes", orFail: .idJAGExpired
        ) { facts, finding in facts.token.expiry(at: facts.moment.unixSeconds, TimeRules(), &finding) },
        Rule(
            "id-jag-issued", expects: .text("iat no later than now"), source: "codes", orFail: .idJAGFuture
        ) { facts, finding in
            facts.token.notBefore(at: facts.moment.unixSeconds, claim: "iat", TimeRules(), &finding)
        },
        Rule(
            "id-jag-lifetime", expects: .text("exp at most 300 s behind iat"), source: "codes", orFail: .idJAGLifetime
        ) { facts, finding in
            facts.token.lifetime(atMost: Double(OktaIDJAG.lifetime), from: .claims(["iat"]), &finding)
        },
    ]

    private static let content = [
        Rule(
            "id-jag-audience", expects: .text("aud of this server"), source: "ours: codes names no failure for it",
            .ours, orFail: .codeOtherServer
        ) { facts, finding in facts.token.audience(isOneOf: facts.audiences, acceptsArray: false, &finding) },
        Rule(
            "id-jag-client", expects: .text("client_id of the client that presents it"), source: "codes",
            orFail: .idJAGClient
        ) { facts, finding in facts.token.claim("client_id", equals: facts.clientID, &finding) },
        Rule(
            "id-jag-scopes", expects: .text("scope with a name or more"), source: "codes", orFail: .idJAGScopes
        ) { facts, finding in
            guard let claims = facts.token.claims else { return nil }
            let scope = claims["scope"]
            finding?.found = scope == "" ? .nothing("an empty text") : scope.map(Fact.json) ?? .absent
            return claims["scope"]?.string?.contains { $0 != " " } == true ? .passed : .failed
        },
    ]

    private static let use = [
        Rule(
            "id-jag-replay", expects: .text("a jti of 1 to 255 characters that was not used"),
            source: "codes; length ours", orFail: .idJAGReplayed
        ) { facts, finding in
            guard let claims = facts.token.claims else { return nil }
            finding?.found = claims["jti"].map(Fact.json) ?? .absent
            guard (1...255).contains(claims["jti"]?.string?.unicodeScalars.count ?? 0) else { return .failed }
            if facts.isUsed { finding?.note = "It was used before." }
            return facts.isUsed ? .failed : .passed
        },
        Rule(
            "id-jag-request-scope", expects: .nothing("no scope in the request"), source: "codes",
            orFail: .idJAGRequestScope
        ) { facts, finding in
            finding?.found = facts.requestedScope.map(Fact.text) ?? .nothing("no scope")
            return facts.requestedScope == nil ? .passed : .failed
        },
        Rule(
            "id-jag-user", expects: .text("sub of an ACTIVE user"), source: "ours: codes names no failure for it",
            .ours,
            orFail: .exchangeSubjectExpired
        ) { facts, finding in
            guard facts.token.claims != nil else { return nil }
            finding?.found = facts.status.map { .text("a user who is \($0.rawValue)") } ?? .nothing("no user")
            return facts.status == .active ? .passed : .failed
        },
    ]
}
