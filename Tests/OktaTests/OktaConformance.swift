import Foundation
import JSON
package import Support
import Testing

@testable import Okta

extension VendorConformance {
    /// Okta's description for the conformance kit.
    package static let okta = {
        var vendor = VendorConformance(
            id: "okta",
            life: SandboxLife(secrets: ["PRIVATE", "not-a-secret", "api-token", "eyJ", "JBSWY3DPEHPK3PXP"]) { world in
                let device = try await OktaLife.live(world)
                return SandboxLife.Past(
                    seen: OktaLife.seen, kept: { try await OktaLife.kept($0, by: device) }, goOn: OktaLife.goOn)
            })
        vendor.contentType = "application/json;charset=UTF-8"
        vendor.contentTypeAt = { path in
            let endings = [
                "/token", "/par", "/device/authorize", "/primary-authenticate", "/oob-authenticate", "/challenge",
            ]
            return path.contains("/v1/") && endings.contains { path.hasSuffix("/v1" + $0) } ? "application/json" : nil
        }
        vendor.routes = RouteCase.all
        vendor.refusal = { OktaCredential.refusal($0) }
        vendor.dropCredentials = OktaCredential.drop
        vendor.fieldsForArmed = .json
        vendor.withoutOwnIDs = { text in
            // Most answers have none, and an expression takes long to find that out.
            guard text.contains("oae") || text.contains("mfa_token") else { return text }
            return text.replacing(/oae[0-9A-Za-z]{22}/, with: "oae0000000000000000000000")
                .replacing(/"mfa_token":"[0-9A-Za-z_-]+"/, with: #""mfa_token":"understudy-mfa-token""#)
        }
        vendor.judgedFile = OktaFailure.judgedFile
        vendor.switches = SwitchCase.all
        vendor.plays = ScenarioPlay.all
        vendor.actions = [
            "approve-device user_code! user",
            "deny-device user_code! user",
            "expire-device user_code!",
            "trusted-origin origin! cors remove",
            "add-user login! password first_name last_name email status groups",
            "remove-user user!",
            "set-status user! status!",
            "set-password user! password!",
            "set-groups user! groups!",
            "end-sessions user! tokens",
            "enroll-factor user! type! secret phone public_key number_challenge",
            "remove-factor factor!",
            "answer-push user! result",
            "factor-code user! factor",
            "consent user! client! server scopes!",
            "revoke-consent user! client! server",
            "claim-override of claims!",
            "drill-keys issuer! drill!",
        ]
        vendor.profiles = [
            "validator-profile documented observed", "ssws-profile okta-verify devices", "access-token-sub login login",
            "keys-cache-control long long", "modulus-leading-zero off off", "keys-extra-members off off",
            "auth-time-lag 1 1", "userinfo-openid-alone on on", "refresh-rotation per-client per-client",
            "login-mode auto auto", "pkce per-client per-client", "par-status 200 201", "par-lifetime 3600 3600",
            "par-required per-client per-client", "device-interval 5 5", "dpop-nonce require require",
            "dpop-resource-nonce off off", "dpop-optional ignore ignore", "dpop-iat enforce enforce",
            "oob-interval push always", "mfa-challenge-types off on", "rate-limit count count",
            "rate-limit-quota 600 600", "cors enforce enforce",
        ]
        vendor.tokens = TokenCase.all
        vendor.samples = ["/oauth2/default", Example.native, "ada@example.test"]
        vendor.wrongStates = OktaLife.wrongStates
        vendor.wrongAccounts = OktaLife.wrongAccounts
        vendor.inspect = { answer in
            let id = answer["x-okta-request-id"] ?? ""
            #expect(id.wholeMatch(of: /req[0-9A-Za-z]{23}/) != nil, "\(id)")
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
            "access-token-missing": ["userinfo.get"], "ssws-missing": ["push.answer"],
            "login-forged": ["login.submit", "activate.submit"], "interact-not-enabled": ["interact"],
            "api-token-invalid": [
                "user.create", "user.list", "user.get", "user.lifecycle", "user.sessions", "factor.list",
                "factor.enroll", "factor.activate", "push.challenge", "push.pending", "push.poll", "global.revoke",
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
