import JSON
import Support
import Testing

/// A successful call of each route, at each of its endpoints.
extension RouteCase {
    static let all: [RouteCase] =
        discovery + both.flatMap { signIn($0) + tokens($0) + direct($0) } + pages + users + factors + push + preflights

    private static let both = [Example.custom, Example.org]

    private static let discovery: [RouteCase] =
        [
            RouteCase("discovery.org", .get, "/.well-known/openid-configuration"),
            RouteCase("discovery.custom", .get, "/oauth2/default/.well-known/openid-configuration"),
            RouteCase("discovery.oauth", .get, "/oauth2/default/.well-known/oauth-authorization-server"),
            RouteCase("discovery.oauth", .get, "/.well-known/oauth-authorization-server/oauth2/default"),
            RouteCase("discovery.oauth", .get, "/.well-known/oauth-authorization-server"),
        ] + both.map { RouteCase("keys.list", .get, $0 + "/keys") }

    /// A call with a form as content.
    private static func form(
        _ route: String, _ target: String, _ form: Parameters, _ fields: World.Fields = [], status: Int = 200,
        answer: String? = nil, failure: String? = nil, contentType: String? = nil,
        prepare: @escaping @Sendable (World) async throws -> [String: String] = { _ in [:] }
    ) -> RouteCase {
        RouteCase(
            route, .post, target, fields: World.Fields.form + fields, body: form.text, status: status, answer: answer,
            failure: failure, contentType: contentType, prepare: prepare)
    }

    private static let native: Parameters = [("client_id", Example.native)]

    private static func signIn(_ server: String) -> [RouteCase] {
        [
            RouteCase(
                "authorize", .get, "\(server)/authorize?\(Parameters.authorize.text)", fields: .json, status: 302,
                answer: ""),
            form("authorize", server + "/authorize", .authorize, .json, status: 302, answer: ""),
            form("par", server + "/par", .authorize),
            RouteCase(
                "logout", .get, server + "/logout?id_token_hint=NEWTOKEN", fields: .json, status: 302, answer: ""
            ) { ["NEWTOKEN": try await $0.issue("id_token", at: server)] },
            form("logout", server + "/logout", [("id_token_hint", "NEWTOKEN")], .json, status: 302, answer: "") {
                ["NEWTOKEN": try await $0.issue("id_token", at: server)]
            },
        ]
    }

    private static func tokens(_ server: String) -> [RouteCase] {
        let access: @Sendable (World) async throws -> [String: String] = {
            ["NEWTOKEN": try await $0.issue("access_token", at: server)]
        }
        let userinfo =
            #"{"sub":"\#(Example.ada)","name":"Ada L","nickname":"","given_name":"Ada","family_name":"L","#
            + #""preferred_username":"ada@example.test","locale":"en-US","zoneinfo":"UTC","updated_at":1798761600}"#
        return [
            form("token.create", server + "/token", .redeem("NEWCODE")) {
                ["NEWCODE": try await $0.code(at: server)]
            },
            form("token.introspect", server + "/introspect", native + [("token", "NEWTOKEN")], prepare: access),
            form("token.revoke", server + "/revoke", native + [("token", "NEWTOKEN")], answer: "", prepare: access),
            RouteCase(
                "userinfo.get", .get, server + "/userinfo", fields: .bearer("NEWTOKEN"), answer: userinfo,
                prepare: access),
            RouteCase(
                "userinfo.get", .post, server + "/userinfo", fields: .bearer("NEWTOKEN"), answer: userinfo,
                prepare: access),
            form(
                "device.authorize", server + "/device/authorize", [("client_id", Example.tv), ("scope", "openid")]),
        ]
    }

    private static func direct(_ server: String) -> [RouteCase] {
        let client: Parameters = [("client_id", Example.direct)]
        let hints = client + [("login_hint", "ada@example.test"), ("channel_hint", "sms")]
        let kind = [("challenge_hint", "urn:okta:params:oauth:grant-type:oob")]
        return [
            form("direct.primary", server + "/primary-authenticate", hints + kind),
            form("direct.primary", server + "/oob-authenticate", hints),
            form(
                "direct.challenge", server + "/challenge", client + [("mfa_token", "NEWTOKEN")],
                answer: #"{"challenge_type":"http://auth0.com/oauth/grant-type/mfa-otp"}"#
            ) { ["NEWTOKEN": try await $0.mfaToken(at: server)] },
            // It is there to refuse its clients by name.
            form(
                "interact", server + "/interact", client, status: 400, failure: "interact-not-enabled"),
        ]
    }

    private static let pages: [RouteCase] = [
        RouteCase("login.page", .get, "/login/login.htm?tx=NEWSIGNIN", fields: .json) {
            ["NEWSIGNIN": try await $0.openSignIn().tx]
        },
        RouteCase("login.style", .get, "/login/page.css", contentType: "text/css; charset=utf-8"),
        form(
            "login.submit", "/login/login.htm",
            [("tx", "NEWSIGNIN"), ("csrf", "NEWSEAL"), ("user", "ada@example.test")],
            .json + [("cookie", "understudy_tx=NEWCOOKIE")]
        ) { try await $0.openSignIn().values },
        RouteCase("activate.page", .get, "/activate", fields: .json),
        form(
            "activate.submit", "/activate", [("tx", "NEWSIGNIN"), ("csrf", "NEWSEAL"), ("user_code", "NEWCODE")],
            .json + [("cookie", "understudy_tx=NEWCOOKIE")]
        ) { try await $0.activation().values },
        RouteCase(
            "authn", .post, "/api/v1/authn", fields: .jsonContent,
            body: #"{"username":"ada@example.test","password":"not-a-secret-1"}"#),
    ]

    private static let ada = "/api/v1/users/" + Example.ada
    private static let apiJSON = World.Fields.apiToken + .jsonContent

    private static let users: [RouteCase] = [
        RouteCase(
            "user.create", .post, "/api/v1/users", fields: apiJSON,
            body: #"{"profile":{"firstName":"D","lastName":"E","email":"d@example.test","login":"d@example.test"},"#
                + #""credentials":{"password":{"value":"not-a-secret-4"}},"groupIds":["00gunderstudypilots1"]}"#),
        RouteCase("user.list", .get, "/api/v1/users", fields: .apiToken),
        RouteCase("user.get", .get, ada, fields: .apiToken),
        RouteCase("user.lifecycle", .post, ada + "/lifecycle/suspend", fields: .apiToken, answer: "{}"),
        RouteCase(
            "user.sessions", .delete, ada + "/sessions?oauthTokens=true", fields: .apiToken, status: 204, answer: ""),
        RouteCase(
            "global.revoke", .post, "/oauth2/v1/global-token-revocation", fields: apiJSON,
            body: #"{"sub_id":{"format":"opaque","id":"\#(Example.ada)"}}"#, status: 204, answer: ""),
    ]

    private static let factors: [RouteCase] = [
        RouteCase("factor.list", .get, ada + "/factors", fields: .apiToken),
        RouteCase(
            "factor.enroll", .post, ada + "/factors", fields: apiJSON,
            body: #"{"factorType":"sms","provider":"OKTA","profile":{"phoneNumber":"+15550102"}}"#),
        RouteCase(
            "factor.activate", .post, ada + "/factors/NEWFACTOR/lifecycle/activate", fields: apiJSON,
            body: #"{"passCode":"NEWCODE"}"#
        ) { world in
            let body = #"{"factorType":"sms","provider":"OKTA","profile":{"phoneNumber":"+15550102"}}"#
            let id = try await world.manage(ada + "/factors", body).json["id"]?.string ?? ""
            let code = try await world.perform("factor-code", ["user": .string(Example.ada), "factor": .string(id)])
            return ["NEWFACTOR": id, "NEWCODE": code.json["code"]?.string ?? ""]
        },
        RouteCase(
            "push.challenge", .post, "\(ada)/factors/\(Example.push)/verify", fields: .apiToken, status: 201,
            answer: #"{"factorResult":"WAITING","expiresAt":"2027-01-15T08:05:00.000Z","_links":{"poll":{"href":"#
                + #""http://localhost:8080\#(transactions)/tx-1"}}}"#),
    ]

    private static let transactions = "\(ada)/factors/\(Example.push)/transactions"

    private static let push: [RouteCase] = [
        RouteCase("push.pending", .get, transactions, fields: .apiToken, answer: #"{"challenges":[]}"#),
        RouteCase("push.poll", .get, transactions + "/tx-1", fields: .apiToken) { try await $0.challengeDevice() },
        RouteCase("push.poll", .get, transactions + "/tx-1/verify", fields: .apiToken) {
            try await $0.challengeDevice()
        },
        RouteCase(
            "push.answer", .post, transactions + "/tx-1/verify",
            fields: World.Fields.jsonContent + [("authorization", "SSWS NEWTOKEN")], body: #"{"result":"APPROVE"}"#,
            answer: #"{"factorResult":"SUCCESS"}"#
        ) { world in
            _ = try await world.challengeDevice()
            return ["NEWTOKEN": try await world.mint("okta/ssws", ["transaction": "tx-1"])]
        },
    ]

    private static let preflights: [RouteCase] =
        (both.flatMap { server in
            ["token", "par", "keys", "introspect", "revoke", "userinfo", "device/authorize"].map { "\(server)/\($0)" }
        } + discovery.prefix(5).map(\.target) + [
            "/api/v1/authn", "/api/v1/users", ada, ada + "/lifecycle/suspend", ada + "/sessions",
        ]).map { target in
            RouteCase(
                "preflight", .options, target,
                fields: [("origin", "http://localhost:3000"), ("access-control-request-method", "POST")], status: 204,
                answer: "")
        }
}

extension World.Fields {
    static let jsonContent: Self = [("content-type", "application/json")]
}

extension World {
    /// A page of ours, and what its form needs.
    struct Page {
        let tx: String
        let csrf: String
        let cookie: String
        var userCode = ""

        /// The values for the names in a route's case.
        var values: [String: String] {
            ["NEWSIGNIN": tx, "NEWSEAL": csrf, "NEWCOOKIE": cookie, "NEWCODE": userCode]
        }

        init(_ answer: ReceivedAnswer, userCode: String = "") {
            (tx, csrf) = (answer.json["tx"]?.string ?? "", answer.json["csrf"]?.string ?? "")
            (cookie, self.userCode) = (answer.cookie("understudy_tx") ?? "", userCode)
        }

        /// The form with further items, as the browser sends it that got the page.
        func form(_ items: Parameters) -> Parameters { [("tx", tx), ("csrf", csrf)] + items }

        var fields: World.Fields { World.Fields.json + [("cookie", "understudy_tx=" + cookie)] }
    }

    /// Begins a sign-in on the page.
    func openSignIn(_ parameters: Parameters = .authorize) async throws -> Page {
        try await set("okta.login-mode", "page")
        let tx = try await authorize(parameters).inLocation("tx") ?? ""
        return Page(try await call(.get, "/login/login.htm?tx=" + tx, .json))
    }

    /// Has a device wait for its user.
    func activation() async throws -> Page {
        let answer = try await submit(
            [("client_id", Example.tv), ("scope", "openid")], to: Example.custom + "/device/authorize")
        return Page(try await call(.get, "/activate", .json), userCode: answer.json["user_code"]?.string ?? "")
    }

    /// The token of a sign-in that lacks the second factor.
    func mfaToken(at server: String = Example.custom) async throws -> String {
        let answer = try await token([("client_id", Example.direct)] + .password, at: server)
        return answer.json["mfa_token"]?.string ?? ""
    }

    /// Challenges Ada's device.
    @discardableResult
    func challengeDevice() async throws -> [String: String] {
        try await manage("/api/v1/users/\(Example.ada)/factors/\(Example.push)/verify").expect(201)
        return [:]
    }
}
