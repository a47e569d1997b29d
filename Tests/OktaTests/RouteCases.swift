import HTTPTypes
import JSON
import Support
import Testing

extension RouteCase {
    static let all: [RouteCase] =
        discovery + both.flatMap { signIn($0) + tokens($0) + direct($0) } + pages + transactions + users + groups
        + sessions + factors
        + push + preflights

    private static let both = [Example.custom, Example.org]

    private static let discovery: [RouteCase] =
        [
            RouteCase("discovery.org", .get, "/.well-known/openid-configuration"),
            RouteCase("discovery.custom", .get, "/oauth2/default/.well-known/openid-configuration"),
            RouteCase("discovery.oauth", .get, "/oauth2/default/.well-known/oauth-authorization-server"),
            RouteCase("discovery.oauth", .get, "/.well-known/oauth-authorization-server/oauth2/default"),
            RouteCase("discovery.oauth", .get, "/.well-known/oauth-authorization-server"),
        ] + both.map { RouteCase("keys.list", .get, $0 + "/keys") }

    private static func form(
        _ route: String, _ target: String, _ form: Parameters, _ fields: World.Fields = [], status: Int = 200,
        failure: String? = nil, contentType: String? = nil,
        prepare: @escaping @Sendable (World) async throws -> [String: String] = { _ in [:] }
    ) -> RouteCase {
        RouteCase(
            route, .post, target, fields: World.Fields.form + fields, body: form.text, status: status,
            failure: failure, contentType: contentType, prepare: prepare)
    }

    private static let native: Parameters = [("client_id", Example.native)]

    private static func signIn(_ server: String) -> [RouteCase] {
        [
            RouteCase(
                "authorize", .get, "\(server)/authorize?\(Parameters.authorize.text)", fields: .json, status: 302),
            form("authorize", server + "/authorize", .authorize, .json, status: 302),
            form("par", server + "/par", .authorize),
            RouteCase(
                "logout", .get, server + "/logout?id_token_hint=NEWTOKEN", fields: .json, status: 302
            ) { ["NEWTOKEN": try await $0.issue("id_token", at: server)] },
            form("logout", server + "/logout", [("id_token_hint", "NEWTOKEN")], .json, status: 302) {
                ["NEWTOKEN": try await $0.issue("id_token", at: server)]
            },
        ]
    }

    private static func tokens(_ server: String) -> [RouteCase] {
        let access: @Sendable (World) async throws -> [String: String] = {
            ["NEWTOKEN": try await $0.issue("access_token", at: server)]
        }
        return [
            form("token.create", server + "/token", .redeem("NEWCODE")) {
                ["NEWCODE": try await $0.code(at: server)]
            },
            form("token.introspect", server + "/introspect", native + [("token", "NEWTOKEN")], prepare: access),
            form("token.revoke", server + "/revoke", native + [("token", "NEWTOKEN")], prepare: access),
            RouteCase("userinfo.get", .get, server + "/userinfo", fields: .bearer("NEWTOKEN"), prepare: access),
            RouteCase("userinfo.get", .post, server + "/userinfo", fields: .bearer("NEWTOKEN"), prepare: access),
            form("device.authorize", server + "/device/authorize", [("client_id", Example.tv), ("scope", "openid")]),
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
                "direct.challenge", server + "/challenge", client + [("mfa_token", "NEWTOKEN")]
            ) { ["NEWTOKEN": try await $0.mfaToken(at: server)] },
            // It is there to refuse its clients by name.
            form("interact", server + "/interact", client, status: 400, failure: "interact-not-enabled"),
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
        ) { try await $0.activation().page.values },
        RouteCase(
            "authn", .post, "/api/v1/authn", fields: .jsonContent,
            body: #"{"username":"ada@example.test","password":"not-a-secret-1"}"#),
    ]

    private static func authn(
        _ route: String, _ path: String, _ members: String,
        prepare: @escaping @Sendable (World) async throws -> String
    ) -> RouteCase {
        RouteCase(
            route, .post, "/api/v1/authn/" + path, fields: .jsonContent, body: #"{"stateToken":"NEWTOKEN"\#(members)}"#
        ) { ["NEWTOKEN": try await prepare($0)] }
    }

    private static let transactions: [RouteCase] = {
        let challenged: @Sendable (World) async throws -> String = { world in
            let token = try await world.stateToken()
            let path = "/api/v1/authn/factors/smsunderstudyada0001/verify"
            try await world.call(.post, path, .jsonContent, #"{"stateToken":"\#(token)"}"#).expect(200)
            return token
        }
        let expired: @Sendable (World) async throws -> String = { world in
            try await world.perform("set-status", ["user": .string(Example.ada), "status": "PASSWORD_EXPIRED"])
            return try await world.stateToken(switches: false)
        }
        let factor = "factors/smsunderstudyada0001/verify"
        return [
            authn("authn.verify", factor, "") { try await $0.stateToken() },
            authn("authn.verify", factor + "/resend", "", prepare: challenged),
            authn("authn.previous", "previous", "", prepare: challenged),
            authn("authn.enroll", "factors", #","factorType":"token:software:totp","provider":"OKTA""#) {
                try await $0.enrollingToken()
            },
            RouteCase(
                "authn.activate", .post, "/api/v1/authn/factors/NEWFACTOR/lifecycle/activate", fields: .jsonContent,
                body: #"{"stateToken":"NEWTOKEN","passCode":"NEWCODE"}"#, prepare: { try await $0.enrolledFactor() }),
            RouteCase(
                "authn.resend", .post, "/api/v1/authn/factors/NEWFACTOR/lifecycle/resend", fields: .jsonContent,
                body: #"{"stateToken":"NEWTOKEN"}"#, prepare: { try await $0.enrolledFactor() }),
            authn("authn.skip", "skip", "") { world in
                try await world.set("okta.authn-password-warning", "on")
                return try await world.stateToken(switches: false)
            },
            authn("authn.cancel", "cancel", "") { try await $0.stateToken() },
            authn(
                "authn.change", "credentials/change_password",
                #","oldPassword":"not-a-secret-1","newPassword":"not-a-secret-6""#, prepare: expired),
            authn("authn.reset", "credentials/reset_password", #","newPassword":"not-a-secret-6""#) { world in
                let token = try await world.recovering()
                let body = #"{"stateToken":"\#(token)","answer":"not-a-secret-plane"}"#
                try await world.call(.post, "/api/v1/authn/recovery/answer", .jsonContent, body).expect(200)
                return token
            },
            authn("authn.answer", "recovery/answer", #","answer":"not-a-secret-plane""#) { try await $0.recovering() },
            RouteCase(
                "authn.recovery", .post, "/api/v1/authn/recovery/password", fields: .jsonContent,
                body: #"{"username":"ada@example.test","factorType":"EMAIL"}"#),
            RouteCase(
                "authn.unlock", .post, "/api/v1/authn/recovery/unlock", fields: .jsonContent,
                body: #"{"username":"ada@example.test","factorType":"EMAIL"}"#
            ) { world in
                try await world.perform("set-status", ["user": .string(Example.ada), "status": "LOCKED_OUT"])
                return [:]
            },
            recovery("verify", #","passCode":"NEWCODE""#), recovery("resend", ""),
            RouteCase(
                "authn.token", .post, "/api/v1/authn/recovery/token", fields: .jsonContent,
                body: #"{"recoveryToken":"NEWTOKEN"}"#
            ) { ["NEWTOKEN": try await $0.recoveryToken()] },
        ]
    }()

    /// A call of a recovery that has sent a code to her phone.
    private static func recovery(_ step: String, _ members: String) -> RouteCase {
        RouteCase(
            "authn.recovery.\(step)", .post, "/api/v1/authn/recovery/factors/SMS/\(step)", fields: .jsonContent,
            body: #"{"stateToken":"NEWTOKEN"\#(members)}"#
        ) { world in
            let body = #"{"username":"ada@example.test","factorType":"SMS"}"#
            let begun = try await world.call(.post, "/api/v1/authn/recovery/password", .jsonContent, body)
            let factor: JSON = "smsunderstudyada0001"
            let code = try await world.perform("factor-code", ["user": .string(Example.ada), "factor": factor])
            return ["NEWTOKEN": begun.member("stateToken"), "NEWCODE": code.member("code")]
        }
    }

    private static let ada = "/api/v1/users/" + Example.ada
    private static let apiJSON = World.Fields.apiToken + .jsonContent

    private static let users: [RouteCase] = [
        RouteCase(
            "user.create", .post, "/api/v1/users", fields: apiJSON,
            body: #"{"profile":{"firstName":"D","lastName":"E","email":"d@example.test","login":"d@example.test"},"#
                + #""credentials":{"password":{"value":"not-a-secret-4"}},"groupIds":["00gunderstudypilots1"]}"#),
        RouteCase("user.list", .get, "/api/v1/users", fields: .apiToken),
        RouteCase("user.get", .get, ada, fields: .apiToken),
        RouteCase("user.update", .post, ada, fields: apiJSON, body: #"{"profile":{"nickName":"A"}}"#),
        RouteCase(
            "user.update", .put, ada, fields: apiJSON,
            body: #"{"profile":{"firstName":"A","lastName":"L","email":"a@example.test","login":"a@example.test"}}"#),
        RouteCase("user.delete", .delete, ada, fields: .apiToken, status: 204),
        RouteCase("user.credentials", .post, ada + "/credentials/forgot_password", fields: .apiToken),
        RouteCase("user.groups", .get, ada + "/groups", fields: .apiToken),
        RouteCase("user.lifecycle", .post, ada + "/lifecycle/suspend", fields: .apiToken),
        RouteCase("user.sessions", .delete, ada + "/sessions?oauthTokens=true", fields: .apiToken, status: 204),
        RouteCase(
            "global.revoke", .post, "/oauth2/v1/global-token-revocation", fields: apiJSON,
            body: #"{"sub_id":{"format":"opaque","id":"\#(Example.ada)"}}"#, status: 204),
    ]

    private static let pilots = "/api/v1/groups/00gunderstudypilots1"

    private static let groups: [RouteCase] = [
        RouteCase("group.create", .post, "/api/v1/groups", fields: apiJSON, body: #"{"profile":{"name":"Crew"}}"#),
        RouteCase("group.list", .get, "/api/v1/groups", fields: .apiToken),
        RouteCase("group.get", .get, pilots, fields: .apiToken),
        RouteCase("group.replace", .put, pilots, fields: apiJSON, body: #"{"profile":{"name":"Crew"}}"#),
        RouteCase("group.delete", .delete, pilots, fields: .apiToken, status: 204),
        RouteCase("group.members", .get, pilots + "/users", fields: .apiToken),
        RouteCase("group.membership", .put, "\(pilots)/users/\(Example.ada)", fields: .apiToken, status: 204),
        RouteCase("group.membership", .delete, "\(pilots)/users/\(Example.cleo)", fields: .apiToken, status: 204),
    ]

    private static let sessions: [RouteCase] = {
        let (own, named) = ("/api/v1/sessions/me", "/api/v1/sessions/NEWSESSION")
        let session: @Sendable (World) async throws -> [String: String] = { world in
            let answer = try await world.manage(
                "/api/v1/sessions", #"{"sessionToken":"\#(try await world.sessionToken())"}"#)
            return ["NEWSESSION": answer.member("id")]
        }
        let cookie: World.Fields = [("cookie", "sid=NEWSESSION")]
        return [
            RouteCase(
                "session.create", .post, "/api/v1/sessions", fields: apiJSON, body: #"{"sessionToken":"NEWTOKEN"}"#
            ) { ["NEWTOKEN": try await $0.sessionToken()] },
            RouteCase("session.get", .get, named, fields: .apiToken, prepare: session),
            RouteCase("session.refresh", .post, named + "/lifecycle/refresh", fields: .apiToken, prepare: session),
            RouteCase("session.end", .delete, named, fields: .apiToken, status: 204, prepare: session),
            RouteCase("session.own", .get, own, fields: cookie, prepare: session),
            RouteCase("session.own.refresh", .post, own + "/lifecycle/refresh", fields: cookie, prepare: session),
            RouteCase("session.own.end", .delete, own, fields: cookie, status: 204, prepare: session),
            RouteCase("user.own", .get, "/api/v1/users/me", fields: cookie, prepare: session),
        ]
            + [HTTPRequest.Method.get, .post].map { method in
                let items = "token=NEWTOKEN&redirectUrl=http%3A%2F%2Flocalhost%3A3000%2F"
                let path = "/login/sessionCookieRedirect"
                return RouteCase(
                    "session.redirect", method, method == .get ? path + "?" + items : path,
                    fields: method == .get ? [] : .form, body: method == .get ? "" : items, status: 302
                ) { ["NEWTOKEN": try await $0.sessionToken()] }
            }
    }()

    private static let factors: [RouteCase] = [
        RouteCase("factor.list", .get, ada + "/factors", fields: .apiToken),
        RouteCase("factor.questions", .get, ada + "/factors/questions"),
        RouteCase("factor.get", .get, "\(ada)/factors/\(Example.totp)", fields: .apiToken),
        RouteCase("factor.remove", .delete, "\(ada)/factors/\(Example.totp)", fields: .apiToken, status: 204),
        RouteCase("factor.resend", .post, ada + "/factors/smsunderstudyada0001/resend", fields: .apiToken),
        RouteCase(
            "factor.enroll", .post, ada + "/factors", fields: apiJSON,
            body: #"{"factorType":"sms","provider":"OKTA","profile":{"phoneNumber":"+15550102"}}"#),
        RouteCase(
            "factor.activate", .post, ada + "/factors/NEWFACTOR/lifecycle/activate", fields: apiJSON,
            body: #"{"passCode":"NEWCODE"}"#
        ) { world in
            let body = #"{"factorType":"sms","provider":"OKTA","profile":{"phoneNumber":"+15550102"}}"#
            let id = try await world.manage(ada + "/factors", body).member("id")
            let code = try await world.perform("factor-code", ["user": .string(Example.ada), "factor": .string(id)])
            return ["NEWFACTOR": id, "NEWCODE": code.member("code")]
        },
        RouteCase("push.challenge", .post, "\(ada)/factors/\(Example.push)/verify", fields: .apiToken, status: 201),
    ]

    private static let challenges = "\(ada)/factors/\(Example.push)/transactions"

    private static let push: [RouteCase] = [
        RouteCase("push.pending", .get, challenges, fields: .apiToken),
        RouteCase("push.poll", .get, challenges + "/tx-1", fields: .apiToken) { try await $0.challengeDevice() },
        RouteCase("push.poll", .get, challenges + "/tx-1/verify", fields: .apiToken) {
            try await $0.challengeDevice()
        },
        RouteCase(
            "push.answer", .post, challenges + "/tx-1/verify",
            fields: World.Fields.jsonContent + [("authorization", "SSWS NEWTOKEN")], body: #"{"result":"APPROVE"}"#
        ) { world in
            _ = try await world.challengeDevice()
            return ["NEWTOKEN": try await world.mint("okta/ssws", ["transaction": "tx-1"])]
        },
    ]

    private static let preflights: [RouteCase] =
        (both.flatMap { server in
            ["token", "par", "keys", "introspect", "revoke", "userinfo", "device/authorize"].map { "\(server)/\($0)" }
        } + discovery.prefix(5).map(\.target) + [
            "/api/v1/authn", "/api/v1/sessions", "/api/v1/sessions/me", "/api/v1/sessions/x/lifecycle/refresh",
            "/api/v1/users", ada, ada + "/lifecycle/suspend", ada + "/sessions", ada + "/groups",
            ada + "/credentials/change_password", "/api/v1/authn/factors/x/verify",
            "/api/v1/authn/factors/x/verify/resend", "/api/v1/authn/factors/x/lifecycle/resend",
            "/api/v1/authn/cancel", "/api/v1/authn/credentials/reset_password",
            "/api/v1/authn/recovery/token", "/api/v1/authn/recovery/factors/sms/verify",
        ]).map { target in
            RouteCase(
                "preflight", .options, target,
                fields: [("origin", "http://localhost:3000"), ("access-control-request-method", "POST")], status: 204)
        }
}

extension World.Fields {
    static let jsonContent: Self = [("content-type", "application/json")]
}

extension World {
    struct Page {
        let tx: String
        let csrf: String
        let cookie: String
        var userCode = ""

        var values: [String: String] { ["NEWSIGNIN": tx, "NEWSEAL": csrf, "NEWCOOKIE": cookie, "NEWCODE": userCode] }

        init(_ answer: ReceivedAnswer, userCode: String = "") {
            (tx, csrf) = (answer.member("tx"), answer.member("csrf"))
            (cookie, self.userCode) = (answer.cookie("understudy_tx") ?? "", userCode)
        }

        func form(_ items: Parameters) -> Parameters { [("tx", tx), ("csrf", csrf)] + items }

        var fields: World.Fields { World.Fields.json + [("cookie", "understudy_tx=" + cookie)] }
    }

    func openSignIn(_ parameters: Parameters = .authorize) async throws -> Page {
        try await set("okta.login-mode", "page")
        let tx = try await authorize(parameters).inLocation("tx") ?? ""
        return Page(try await call(.get, "/login/login.htm?tx=" + tx, .json))
    }

    func activation() async throws -> (page: Page, device: String) {
        let codes = try await startDevice()
        return (Page(try await call(.get, "/activate", .json), userCode: codes.user), codes.device)
    }

    /// A sign-in by the authentication API, Ada's unless told otherwise.
    func authenticate(
        _ login: String = "ada@example.test", _ password: String = "not-a-secret-1", _ fields: Fields = []
    ) async throws -> ReceivedAnswer {
        let body = #"{"username":"\#(login)","password":"\#(password)"}"#
        return try await call(.post, "/api/v1/authn", World.Fields.jsonContent + fields, body)
    }

    func sessionToken() async throws -> String { try await authenticate().member("sessionToken") }

    /// A state token of Ada, who has to show a factor unless the switch stays as it is.
    func stateToken(switches: Bool = true) async throws -> String {
        if switches { try await set("okta.authn-mfa", "enrolled") }
        return try await authenticate().member("stateToken")
    }

    /// A state token of Cleo, who has to enroll a factor.
    func enrollingToken() async throws -> String {
        try await set("okta.authn-mfa", "required")
        return try await authenticate("cleo@example.test", "not-a-secret-2").member("stateToken")
    }

    /// Her factor, to which a code was sent, as values for a call.
    func enrolledFactor() async throws -> [String: String] {
        let token = try await enrollingToken()
        let body =
            #"{"stateToken":"\#(token)","factorType":"sms","provider":"OKTA","profile":{"phoneNumber":"+15550199"}}"#
        let answer = try await call(.post, "/api/v1/authn/factors", .jsonContent, body)
        let factor = answer.json["_embedded"]?["factor"]?["id"]?.string ?? ""
        let code = try await perform("factor-code", ["user": "cleo@example.test", "factor": .string(factor)])
        return ["NEWTOKEN": token, "NEWFACTOR": factor, "NEWCODE": code.member("code")]
    }

    /// The recovery token of Ada, who has forgotten her password.
    func recoveryToken() async throws -> String {
        let fields = World.Fields.apiToken + .jsonContent
        let body = #"{"username":"ada@example.test"}"#
        return try await call(.post, "/api/v1/authn/recovery/password", fields, body).member("recoveryToken")
    }

    /// The state token of her recovery, which waits for the answer to her question.
    func recovering() async throws -> String {
        let body = #"{"recoveryToken":"\#(try await recoveryToken())"}"#
        return try await call(.post, "/api/v1/authn/recovery/token", .jsonContent, body).member("stateToken")
    }

    /// The token of a sign-in that lacks the second factor.
    func mfaToken(at server: String = Example.custom) async throws -> String {
        try await token([("client_id", Example.direct)] + .password, at: server).member("mfa_token")
    }

    @discardableResult
    func challengeDevice() async throws -> [String: String] {
        try await manage("/api/v1/users/\(Example.ada)/factors/\(Example.push)/verify").expect(201)
        return [:]
    }
}
