import Emulation
import HTTPTypes
import JSON
import Support
import Testing
import Tokens
import Wire

@testable import Okta

@Suite("Okta's rules for clients and tokens")
struct TokenRuleTests {
    private static let vendor = Result {
        try Okta(fixtures: VendorFixtures(store: Repository.fixtures, folder: "okta"))
    }

    private static func arrival(
        _ route: String, _ target: String, _ fields: World.Fields = [], _ body: String = ""
    ) throws -> OktaArrival {
        let vendor = try vendor.get()
        let route = try #require(Okta.routes.first { $0.id == route })
        let request = Request(
            method: .post, target: target, authority: "localhost:8080", fields: FieldLines(fields),
            body: Array(body.utf8))
        return OktaArrival(
            vendor: vendor, route: route, request: request,
            parameters: PathParameters(names: ["server"], values: ["default"]),
            moment: Moment(unixSeconds: Double(World.exampleMoment)), switches: OktaSwitches(SwitchValues([:])),
            authenticationContext: vendor.authenticationContext(in: vendor.initialState),
            sandbox: SandboxIdentity(name: "mine", start: "00000000"))
    }

    // MARK: - Clients

    private static func client(
        _ items: AppClient.Items, _ fields: World.Fields = [], query: String = "",
        _ change: (inout OktaClientFacts) -> Void = { _ in }
    ) throws -> OktaClientFacts {
        let arrival = try arrival("token.create", Example.custom + "/token" + query, fields)
        var facts = OktaClientFacts(try vendor.get(), arrival, OktaParameters(items), takesJSON: false)
        change(&facts)
        return facts
    }

    private static func assertion(_ change: (inout Assertion) throws -> Void = { _ in }) throws -> OktaClientFacts {
        try client(try Assertion().changed(change).items)
    }

    private static func assertion(_ text: String) throws -> OktaClientFacts {
        try client([("client_assertion_type", Assertion.type), ("client_assertion", text)])
    }

    @Test("for clients hold and are broken")
    func clients() throws {
        let requests = [
            "media-type": try Self.client([]) { $0.content = .other("text/plain") },
            "json-object": try Self.client([]) { $0.content = .unreadableJSON("a JSON array") },
            "credentials-in-query": try Self.client([], query: "?client_secret=x"),
            "parameters-once": try Self.client([("a", "b"), ("a", "c")]),
            "credentials-once": try Self.client(
                [("client_secret", "x")], AppClient.basic(Example.service, AppClient.serviceSecret)),
            "credentials-present": try Self.client([]),
            "client-known": try Self.client([("client_id", "nope")]),
            "client-method": try Self.client([("client_id", Example.web)]),
            "client-secret": try Self.client([], AppClient.basic(Example.service, "x")),
            "assertion-type": try Self.client([("client_assertion", try Assertion().text)]),
        ]
        let assertions = [
            "critical": try Self.assertion { $0.header["crit"] = [] },
            "key-references": try Self.assertion { $0.header["jku"] = "https://a.test" },
            "algorithm": try Self.assertion { ($0.algorithm, $0.header["alg"]) = (.ps256, "PS256") },
            "issuer": try Self.assertion { $0.claims["iss"] = "nope" },
            "subject": try Self.assertion { $0.claims["sub"] = "nope" },
            "assertion-key": try Self.assertion { $0.header["kid"] = "nope" },
            "secret-length": try {
                var facts = try Self.client(try Assertion().signed().items)
                facts.client?.secret = "short"
                return facts
            }(),
            "signature": try Self.client(try Assertion().signed(bySecret: "another").items),
            "audience": try Self.assertion { $0.claims["aud"] = "http://localhost:8080" },
            "claim-exp-present": try Self.assertion { $0.claims["exp"] = "1" },
            "expiry": try Self.assertion { $0.claims["exp"] = JSON(World.exampleMoment) },
            "lifetime": try Self.assertion { $0.claims["exp"] = JSON(World.exampleMoment + 3601) },
            "issued-at": try Self.assertion { $0.claims["iat"] = JSON(World.exampleMoment + 1) },
        ]
        let forms = try brokenForms(of: try Assertion().text).mapValues { try Self.assertion($0) }
        expectExamples(
            of: Okta.clientRules,
            holding: [
                try Self.assertion(), try Self.client([("client_id", Example.native)]),
                try Self.client([], AppClient.basic(Example.service, AppClient.serviceSecret)),
                try Self.client(try Assertion().signed().items), try Self.client([]) { $0.content = .json },
            ],
            breaking: requests.merging(assertions) { $1 }.merging(forms) { $1 })
        var (used, fresh) = (try Self.assertion(), try Self.assertion())
        (used.isReplayed, fresh.isReplayed) = (true, false)
        expectExamples(of: Okta.assertionUseRules, holding: [fresh], breaking: ["assertion-used": used])
    }

    // MARK: - Tokens

    private static func claims(_ change: (inout JSONObject) -> Void = { _ in }) -> JSONObject {
        var claims: JSONObject = [
            "jti": "AT.1", "iss": .string(Example.base + "/oauth2/default"), "exp": JSON(World.exampleMoment + 1),
        ]
        change(&claims)
        return claims
    }

    private static func text(
        _ claims: JSONObject = claims(), _ change: (inout JSONObject) -> Void = { _ in }
    ) throws -> String {
        let keys = try #require(try vendor.get().keys(of: "default", among: [:]))
        var header = OktaTokenMaker.header(keys.signing)
        change(&header)
        return try TokenDraft(header: header, claims: claims).mint(key: keys.signing, algorithm: .rs256)
    }

    private static func token(_ fields: World.Fields) throws -> OktaTokenFacts {
        let arrival = try arrival("userinfo.get", Example.custom + "/userinfo", fields)
        let server = try #require(try vendor.get().accounts.server("default"))
        let bearer = BearerToken(arrival.request.fields)
        var facts = OktaTokenFacts(bearer.bytes.map { OktaToken(bytes: Array($0)) }, arrival, at: server)
        facts.bearer = bearer
        return facts
    }

    private static func token(_ text: String) throws -> OktaTokenFacts {
        try token([("authorization", "Bearer \(text)")])
    }

    @Test("for access tokens hold and are broken")
    func tokens() throws {
        let good = try Self.text()
        let broken = [
            "token-present": try Self.token([]),
            "authorization-lines": try Self.token([("authorization", "Bearer a"), ("authorization", "Bearer b")]),
            "bearer-once": try Self.token([("authorization", "Bearer Bearer a")]),
            "algorithm": try Self.token(try Self.text { $0["alg"] = "RS384" }),
            "critical": try Self.token(try Self.text { $0["crit"] = [] }),
            "key-references": try Self.token(try Self.text { $0["jwk"] = [:] }),
            "key-published": try Self.token(try Self.text { $0["kid"] = "nope" }),
            "signature": try Self.token(good + "A"),
            "issuer": try Self.token(
                try Self.text(Self.claims { $0["iss"] = "http://localhost:8080/oauth2/default/" })),
            "access-token": try Self.token(try Self.text(Self.claims { $0["jti"] = "ID.1" })),
            "claim-exp-present": try Self.token(try Self.text(Self.claims { $0["exp"] = nil })),
            "expiry": try Self.token(try Self.text(Self.claims { $0["exp"] = JSON(World.exampleMoment) })),
        ]
        expectExamples(
            of: OktaTokenRules.access, holding: [try Self.token(good)],
            breaking: try brokenForms(of: good).mapValues { try Self.token($0) }.merging(broken) { $1 })
        var (revoked, usable) = (try Self.token(good), try Self.token(good))
        (revoked.isRevoked, usable.isRevoked) = (true, false)
        expectExamples(of: OktaTokenRules.use, holding: [usable], breaking: ["token-revoked": revoked])
    }

    @Test("find the same whether a token was seen before or not, and judge each key anew")
    func memory() throws {
        let token = OktaToken(bytes: Array(try Self.text().utf8))
        let keys = try #require(try Self.vendor.get().keys(of: "default", among: [:])).published.map(\.key)
        for _ in 0..<2 {
            var nothing: Finding?
            #expect(keys.map { token.signature(by: $0, &nothing) } == [.passed, .failed])
        }
    }

    @Test("an issuer is compared without slashes, prefixes or other servers counting")
    func issuers() throws {
        let accounts = try Self.vendor.get().accounts
        let (org, custom) = (try #require(accounts.server("org")), try #require(accounts.server("default")))
        let base = Example.base
        #expect(org.isIssuer(base, at: base) && custom.isIssuer(base + "/oauth2/default", at: base))
        for other in ["", base + "/", base + "/oauth2/default/", base + "/oauth2/defaul", "http://localhost:808"] {
            #expect(!org.isIssuer(other, at: base) && !custom.isIssuer(other, at: base), "\(other)")
        }
        #expect(!org.isIssuer(base + "/oauth2/default", at: base) && !custom.isIssuer(base, at: base))
    }
}
