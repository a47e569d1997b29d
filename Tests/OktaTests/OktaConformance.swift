import JSON
package import Support
import Testing

@testable import Okta

extension VendorConformance {
    package static let okta = {
        var vendor = VendorConformance(
            id: "okta",
            life: SandboxLife(secrets: ["PRIVATE", "not-a-secret", "api-token", "eyJ", "JBSWY3DPEHPK3PXP"]) { world in
                let device = try await OktaLife.live(world)
                return SandboxLife.Past(
                    seen: OktaLife.seen, kept: { try await OktaLife.kept($0, by: device) }, goOn: OktaLife.goOn)
            })
        vendor.contentType = "application/json"
        vendor.routes = RouteCase.all
        vendor.refusal = { OktaCredential.refusal($0) }
        vendor.dropCredentials = OktaCredential.drop
        vendor.fieldsForArmed = .json
        vendor.routesForPeople = ["activate.submit"]
        vendor.withoutOwnIDs = { text in
            // Most answers have none, and an expression takes long to find that out.
            if text.contains("authorization_uri") {
                return text.replacing(
                    #/(algs="[^"]*", )?authorization_uri="[^"]*", realm="[^"]*", scope="[^"]*", /#, with: ""
                )
                .replacing(#/, resource="[^"]*"/#, with: "")
            }
            if text.contains("oidc_client") {
                return text.replacing(#/instance/[^#]*/#, with: "instance/\(Example.native)")
            }
            guard text.contains("oae") || text.contains("mfa_token") else { return text }
            return text.replacing(/oae[0-9A-Za-z]{22}/, with: "oae0000000000000000000000")
                .replacing(/"mfa_token":"[0-9A-Za-z_-]+"/, with: #""mfa_token":"understudy-mfa-token""#)
        }
        vendor.switches = SwitchCase.all
        vendor.plays = ScenarioPlay.all
        vendor.actions = [
            "approve-device user_code! user",
            "deny-device user_code! user",
            "expire-device user_code!",
            "trusted-origin origin! cors remove",
            "add-client id name application_type secret redirect_uris post_logout_redirect_uris grants "
                + "pkce_required",
            "add-redirect-uri client! uri! logout",
            "add-user login! password first_name last_name email status groups",
            "remove-user user!",
            "set-status user! status!",
            "set-password user! password!",
            "set-groups user! groups!",
            "add-group name! id",
            "end-sessions user! tokens",
            "enroll-factor user! type! secret phone question answer public_key number_challenge",
            "remove-factor factor!",
            "answer-push user! result",
            "factor-code user! factor",
            "consent user! client! server scopes!",
            "revoke-consent user! client! server",
            "assign-client client! users groups",
            "set-policies server policies",
            "set-claims server claims",
            "drill-keys issuer! drill!",
        ]
        vendor.profiles = [
            "validator-profile documented observed", "ssws-profile okta-verify devices", "access-token-sub login login",
            "keys-cache-control long long", "modulus-leading-zero off off", "keys-extra-members off off",
            "auth-time-lag 1 1", "userinfo-openid-alone on on", "refresh-rotation per-client per-client",
            "login-mode auto auto", "redirect-uris registered registered", "pkce per-client per-client",
            "par-status 200 201", "par-lifetime 3600 3600",
            "par-required per-client per-client", "device-interval 5 5", "dpop-nonce require require",
            "dpop-resource-nonce off off", "dpop-optional ignore ignore", "dpop-iat enforce enforce",
            "oob-interval push always", "mfa-challenge-types off on", "rate-limit count count",
            "rate-limit-quota 600 600", "authn-mfa off off", "authn-password-warning off off",
            "authn-lockout hide hide", "error-lists codes codes",
            "cors enforce enforce",
        ]
        vendor.tokens = TokenCase.all
        vendor.samples = ["/oauth2/default", Example.native, "ada@example.test"]
        vendor.wrongStates = OktaLife.wrongStates
        vendor.wrongAccounts = OktaLife.wrongAccounts
        vendor.inspect = { answer in
            let id = answer["x-okta-request-id"] ?? ""
            #expect(id.wholeMatch(of: /[0-9a-f]{32}/) != nil, "\(id)")
        }
        return vendor
    }()
}

/// Where callers show who they are, by routes.
private enum OktaCredential {
    /// The failure of a call without credentials. Those of authorize stand in its parameters, which a form loses too.
    static func refusal(_ route: RouteCase) -> String? {
        route.route == "authorize" && route.method == .post ? "client-unknown" : refusals[route.route]
    }

    static let refusals: [String: String] = {
        let failures = [
            "client-credentials-missing": [
                "par", "token.create", "token.introspect", "token.revoke", "device.authorize", "direct.primary",
                "direct.challenge",
            ],
            "session-not-found": ["session.own", "session.own.refresh", "session.own.end"],
            "session-invalid": ["user.own"], "access-token-missing": ["userinfo.get"], "ssws-missing": ["push.answer"],
            "login-forged": ["login.submit", "activate.submit"], "interact-not-enabled": ["interact"],
            "api-token-invalid": [
                "user.create", "user.list", "user.get", "user.lifecycle", "user.sessions", "factor.list",
                "user.update", "user.delete", "user.credentials", "user.groups", "group.create", "group.list",
                "group.get",
                "group.replace", "group.delete", "group.members", "group.membership", "factor.get", "factor.remove",
                "factor.resend", "factor.enroll", "factor.activate", "push.challenge", "push.pending", "push.poll",
                "global.revoke",
                "session.create", "session.get", "session.refresh", "session.end",
            ],
        ]
        return Dictionary(uniqueKeysWithValues: failures.flatMap { failure, routes in routes.map { ($0, failure) } })
    }()

    @Sendable static func drop(_ request: inout PreparedRequest) {
        request.fields.removeAll { ["authorization", "cookie", "dpop"].contains($0.0.lowercased()) }
        guard !request.body.hasPrefix("{") else { return }
        request.body = request.body.split(separator: "&").filter { !$0.hasPrefix("client_id=") }.joined(separator: "&")
    }
}

enum OktaLife {
    /// What a client keeps for itself.
    struct Keeper: Sendable {
        let access: String
        let refresh: String
        let session: String
        let secret: String
        let nonce: String
    }

    static func live(_ world: World) async throws -> Keeper {
        let dora =
            #"{"profile":{"firstName":"D","lastName":"E","email":"d@example.test","login":"d@example.test"},"#
            + #""credentials":{"password":{"value":"not-a-secret-4"}}}"#
        try await world.manage("/api/v1/users", dora).expect(200)
        try await world.perform("set-groups", ["user": .string(Example.cleo), "groups": []])
        try await world.manage("/api/v1/groups", #"{"profile":{"name":"Crew"}}"#).expect(200)
        try await world.call(.delete, "/api/v1/groups/00gunderstudypilots1", .apiToken).expect(204)
        try await world.perform("remove-user", ["user": .string(Example.ben)]).expect(200)
        try await world.perform("trusted-origin", ["origin": "http://new.example", "cors": true]).expect(200)
        try await world.perform(
            "consent", ["user": .string(Example.ada), "client": .string(Example.spa), "scopes": ["trips.share"]]
        ).expect(200)
        try await world.perform("add-group", ["name": "Deck"]).expect(200)
        let assigned: JSONObject = ["client": .string(Example.spa), "groups": ["Crew", "Deck"]]
        try await world.perform("assign-client", assigned).expect(200)
        try await world.perform("set-policies", ["policies": [["name": "All"]]]).expect(200)
        try await world.perform("set-claims", ["claims": [["name": "tenant", "value": "t-1"]]]).expect(200)
        let authorized = try await world.authorize()
        let session = try #require(authorized.cookie("sid"))
        let tokens = try await world.tokens(.authorize.with("scope", "openid profile offline_access device_sso"))
        let access = try #require(tokens["access_token"]?.string)
        let other = try await world.issue("access_token")
        try await world.submit(
            [("client_id", Example.native), ("token", other)], to: Example.custom + "/revoke"
        ).expect(200)
        _ = try await world.pushed()
        _ = try await world.startDevice()
        _ = try await world.mfaToken()
        try await world.token(.service() + world.assertion()).expect(200)
        try await world.challengeDevice()
        try await world.answerChallenge([:]).expect(200)
        try await world.challengeDevice()
        let code = try await world.bankCode()
        let proof = try await world.mint("okta/dpop-proof")
        let refused = try await world.token(
            [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", "http://localhost:3000/bank")]
                + world.assertion(["client": .string(Example.bank)]), [("DPoP", proof)])
        let nonce = try #require(refused["dpop-nonce"])
        try await world.control(.post, "keys/okta/default/overlap").expect(200)
        try await world.set("okta.par-required", "per-client")
        return Keeper(
            access: access, refresh: try #require(tokens["refresh_token"]?.string), session: session,
            secret: tokens["device_secret"]?.string ?? "", nonce: nonce)
    }

    static func seen(_ world: World) async throws -> [String] {
        var texts: [String] = []
        for path in [
            "/api/v1/users", "/api/v1/groups", "/api/v1/users/\(Example.ada)/factors", transactions,
            transactions + "/tx-1",
        ] {
            let answer = try await world.call(.get, path, .apiToken)
            texts.append(
                answer.text.replacing(/"lastLogin":"[^"]*"/, with: "").replacing(/00[gu][0-9A-Za-z]{17}/, with: "")
                    // Passwords are secrets: who is imported elsewhere has none.
                    .replacing(#""password":{},"#, with: ""))
        }
        texts.append(try await world.call(.get, "/api/v1/users/\(Example.ben)", .apiToken).failure ?? "there")
        texts.append(try await world.call(.get, Example.custom + "/keys").text)
        let origin: World.Fields = [("origin", "http://new.example"), ("access-control-request-method", "POST")]
        let preflight = try await world.call(.options, Example.custom + "/revoke", origin)
        texts.append(preflight["access-control-allow-origin"] ?? "not allowed")
        return texts
    }

    private static let transactions = "/api/v1/users/\(Example.ada)/factors/\(Example.push)/transactions"

    /// What only those see who keep tokens and cookies.
    static func kept(_ world: World, by keeper: Keeper) async throws -> [String] {
        var texts: [String] = []
        texts.append(
            try await world.submit(
                [("client_id", Example.native), ("token", keeper.access)], to: Example.custom + "/introspect"
            ).text)
        texts.append(
            try await world.submit(
                [("client_id", Example.native), ("token", keeper.secret)], to: Example.custom + "/introspect"
            ).text)
        texts.append(try await world.token(.refresh(keeper.refresh)).failure ?? "refreshed")
        let silent = try await world.authorize(.authorize.with("prompt", "none"), [("cookie", "sid=" + keeper.session)])
        texts.append(silent.failure ?? "signed in")
        return texts
    }

    @Sendable static func goOn(_ world: World) async throws {
        try await world.manage("/api/v1/users/\(Example.cleo)/lifecycle/suspend").expect(200)
        _ = try await world.tokens(.authorize)
        try await world.control(.post, "keys/okta/org/overlap").expect(200)
    }

    static let wrongStates = [
        WrongState("{}", complaint: "member “users” is missing"),
        WrongState(#"{"users":{},"factors":[]}"#, complaint: "users: found a mapping; expected a list"),
        WrongState(
            #"{"users":[],"factors":[],"trusted_origins":[],"user":1}"#,
            complaint: "user: unknown member “user”; did you mean “users”?"),
    ]

    static let wrongAccounts = [
        WrongAccounts("default_user: \"00uunderstudyada0001\"", to: "default_user: \"nobody\"", complaint: "nobody"),
        WrongAccounts(
            "trusted_origins: [\"http://localhost:3000\"]", to: "trusted_origins: [\" http://localhost:3000\"]",
            complaint: "found \" http://localhost:3000\"; expected an address without blanks and line breaks"),
        WrongAccounts("keys/o1.pem", to: "keys/o9.pem", complaint: "no such file"),
        WrongAccounts("keys/o1.pem", to: "failures.yaml", complaint: "is not a private key in PEM"),
        WrongAccounts(
            "keys/o1.pem", to: "keys/dk1.pem",
            complaint: "found an EC key on P-256; expected an RSA key, as RS256 needs"
        ),
        WrongAccounts(
            "groups: [\"00gunderstudyevery01\"]", to: "groups: [\"00gunderstudyeverx01\"]",
            complaint: "no group has the id 00gunderstudyeverx01; did you mean “00gunderstudyevery01”?"),
        WrongAccounts("grants: [client_credentials]", to: "grants: [client]", complaint: "grants has client; expected"),
        WrongAccounts("trusted_origins:", to: "trusted_orgins:", complaint: "did you mean “trusted_origins”?"),
    ]
}
