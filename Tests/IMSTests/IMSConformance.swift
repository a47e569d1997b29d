import JSON
package import Support
import Testing

@testable import IMS

extension VendorConformance {
    package static let ims = {
        var vendor = VendorConformance(
            id: "ims",
            life: SandboxLife(
                secrets: ["PRIVATE", "private_key", "11223344", "activation_code", "operator-test-key"]
            ) { world in
                try await IMSLife.live(world)
                return SandboxLife.Past(seen: IMSLife.seen, kept: IMSLife.kept) {
                    try await $0.call(.post, "/ims/v1/users/usr-1/deactivate", .operatorKey).expect(200)
                    try await $0.drill("rotating", "overlap")
                    try await $0.drill("cognito", "same-kid")
                }
            })
        vendor.routes = RouteCase.all
        vendor.refusal = { route in
            switch route.route {
            case let id where id.hasPrefix("dev-issuer"): nil
            case let id where id.hasPrefix("issuers") || id.hasPrefix("users"): "operator-key-missing"
            default: "token-missing"
            }
        }
        vendor.switches = SwitchCase.all
        vendor.plays = ScenarioPlay.all
        vendor.actions = [
            "enroll-user email! tenant enterprise_id activation_id activate",
            "activate-user user! tenant issuer",
            "deactivate-user user! tenant issuer",
            "drill-keys issuer! drill!",
        ]
        vendor.profiles = [
            "max-lifetime-seconds off", "not-before-leeway-seconds 30", "expiry-leeway-seconds 0",
            "missing-not-before refuse", "unknown-user refuse", "operator-auth key", "jwks-cooldown-seconds 30",
            "jwks-default-lifetime-seconds 600", "sdk-near-expiry-seconds 60", "jwks-allow ", "jwks-allow-http ",
        ].map { profile in profile + " " + profile.split(separator: " ", omittingEmptySubsequences: false)[1] }
        vendor.tokens = [TokenCase.user]
        vendor.wrongAccounts = IMSLife.wrongAccounts
        vendor.samples = ["EMP-0001", "https://auth.example.test/uat"]
        vendor.wrongStates = IMSLife.wrongStates
        vendor.inspect = { answer in
            if let failure = answer.failure { answer.expectChallenge(failure) }
        }
        return vendor
    }()
}

extension TokenCase {
    fileprivate static let user = TokenCase(
        "user",
        defects: [
            ("expired", "token-expired"), ("not-yet-valid", "token-not-yet-valid"), ("missing-iss", "claim-missing"),
            ("missing-sub", "claim-missing"), ("missing-exp", "claim-missing"), ("missing-typ", "typ-not-allowed"),
            ("wrong-alg", "alg-not-allowed"), ("alg-none", "alg-not-allowed"), ("wrong-key", "signature-invalid"),
            ("public-key-as-secret", "alg-not-allowed"), ("tampered-payload", "signature-invalid"),
            ("bad-signature", "signature-invalid"), ("truncated-signature", "signature-invalid"),
            ("padded-base64", "token-malformed"), ("two-parts", "token-malformed"), ("four-parts", "token-malformed"),
            ("milliseconds", "token-not-yet-valid"), ("string-exp", "claim-invalid"), ("fractional-exp", nil),
            ("no-nbf-no-iat", "claim-missing"), ("lifetime-16m", nil), ("embedded-jwk", "signature-invalid"),
            // A kid is ignored if the keys have none.
            ("unknown-kid", nil),
        ],
        // An RSA key is no secret.
        refused: ["wrong-secret", "secret-base64-decoded", "secret-hex-decoded"],
        words: ["no-nbf-no-iat": "nbf or iat"]
    ) { world, order in try await world.me(try await world.mint("ims/user", order)) }
}

enum IMSLife {
    static func fields(_ subject: String = "EMP-0001") throws -> World.Fields {
        .bearer(try Forged(.uat, [("sub", .string(subject))]).text())
    }

    static func live(_ world: World) async throws {
        try await world.createIssuer(Example.publicKey(6), ["replay": "single-use"]).expect(201)
        try await world.call(.delete, "/ims/v1/issuers/stranger", .operatorKey).expect(204)
        try await world.call(
            .post, "/ims/v1/users", .operatorKey,
            #"{"tenant":"demo","email":"dora@example.test","enterprise_id":"EMP-5","activation_id":"dora"}"#
        ).expect(201)
        try await world.call(.post, "/ims/v1/activation", try fields("EMP-0002"), Example.activation).expect(200)
        try await world.call(.patch, Example.me, try fields(), #"{"phone":"+1555","locale":"cs"}"#).expect(200)
        let point = #"{"at":"2027-01-15T07:00:00Z","lat":49.2,"lon":16.6}"#
        let trip = String(Example.trip.dropLast()) + #","vehicle_id":"v","points":[\#(point)]}"#
        try await world.call(.post, "/ims/v1/trips", try fields(), trip).expect(201)
        try await world.call(.post, "/ims/v1/invitations", try fields(), Example.invitation).expect(201)
        try await world.me(once).expect(200)
        try await world.drill("rotating", "overlap")
        try await world.drill("cognito", "break")
    }

    private static let once = Forged(.uat, [("iss", .string(Example.newIssuer)), ("jti", "j")]).signed(by: 6)

    static func seen(_ world: World) async throws -> [String] {
        var texts: [String] = []
        for path in ["me", "trips", "trips/t-1", "driving-summary", "invitations"] {
            texts.append(try await world.call(.get, "/ims/v1/" + path, try fields()).text)
        }
        texts.append(try await world.call(.get, Example.me, try fields("EMP-0002")).text)
        texts.append(try await world.me(once).failure ?? "used once more")
        texts.append(try await world.me(Forged(.stranger)).failure ?? "there")
        texts.append(try await world.call(.get, "/ims/dev-issuers/rotating/jwks.json").text)
        texts.append(String(try await world.call(.get, "/ims/dev-issuers/cognito/jwks.json").status))
        texts.append(try await world.call(.get, "/ims/v1/issuers/new", .operatorKey).text)
        return texts
    }

    static func kept(_ world: World) async throws -> [String] {
        var codes: [String] = []
        for user in ["usr-4", "usr-5"] {
            let answer = try await world.call(.get, "/ims/v1/users/\(user)", .operatorKey)
            codes.append(try #require(answer.json["activation_code"]?.string))
        }
        return codes
    }

    private static let user = #""tenant":"demo","email":"a@b.test","created_at":1"#

    static let wrongStates = [
        WrongState("{}", complaint: "member “issuers” is missing"),
        WrongState(#"{"issuers":[]}"#, complaint: "member “users” is missing"),
        WrongState(
            #"{"issuers":[],"users":[],"user":1}"#, complaint: "user: unknown member “user”; did you mean “users”?"),
        WrongState(
            #"{"issuers":[],"users":[{"id":"x",\#(user),"state":"enrolled"}]}"#,
            complaint: "users[0].id: is not an id of the form usr-1"),
        WrongState(
            #"{"issuers":[],"users":[{"id":"usr-1",\#(user),"state":"lost"}]}"#,
            complaint: "users[0].state: “lost” is not one of"),
        WrongState(
            #"{"issuers":[],"users":[{"id":"usr-1",\#(user),"state":"active"}]}"#,
            complaint: "users[0]: user usr-1 is active without"),
        WrongState(
            #"{"issuers":[],"users":[{"id":"usr-1",\#(user),"state":"enrolled"},{"id":"usr-2",\#(user),"state":"enrolled"}]}"#,
            complaint: "users[1]: another user of tenant demo has the same activation_id"),
        WrongState(
            #"{"issuers":[{"name":"a","issuer":"i","tenant":"t","created_at":1,"keys":{"type":"jwks","jwks":{"keys":[]}}}],"users":[]}"#,
            complaint: "issuers[0].keys: there is no RSA key"),
        WrongState(
            #"{"issuers":[{"name":"A","issuer":"i","tenant":"t","created_at":1,"keys":{"type":"jwks-url","url":"https://x.test/"}}],"users":[]}"#,
            complaint: "issuers[0]: name is not made of"),
        WrongState(
            #"{"issuers":[],"users":[],"trips":[{"trip_id":"t","user":"usr-1","received_at":1}]}"#,
            complaint: "trips[0]: started_at was not sent"),
        WrongState(
            #"{"issuers":[],"users":[],"dev_keys":[{"issuer":"rotatin","keys":[]}]}"#,
            complaint: "dev_keys[0].issuer: no dev issuer is called rotatin"),
        WrongState(
            #"{"issuers":[],"users":[],"dev_keys":[{"issuer":"rotating","keys":[{"kid":"k2","role":"signing"}]},{"issuer":"rotating","keys":[{"kid":"k2","role":"signing"}]}]}"#,
            complaint: "dev_keys[1].issuer: dev issuer rotating occurs twice"),
        WrongState(#"{"issuers":[],"users":[],"last_user":-1}"#, complaint: "last_user: -1 is not between"),
        WrongState(#"{"issuers":[],"users":[],"removed_users":[]}"#, complaint: "unknown member “removed_users”"),
        WrongState(
            #"{"issuers":[],"users":[],"dev_keys":[{"issuer":"rotating","fetches":9223372036854775807,"keys":[{"kid":"rotating-1","role":"signing"}]}]}"#,
            complaint: "dev_keys[0]"),
    ]

    static let wrongAccounts = [
        WrongAccounts(
            "operator_key: \"ims-operator-test-key\"", to: "operator_key: \"\"", complaint: "the key is empty"),
        WrongAccounts("tenant: \"other\"", to: "tenant: \"Other\"", complaint: "tenant is not made of 1 to 40"),
        WrongAccounts(
            "\"https://auth.other.test\"", to: "\"https://auth.example.test/uat\"",
            complaint: "another issuer has the name stranger or its iss"),
        WrongAccounts("preset: cognito", to: "preset: congito", complaint: "preset is not one of"),
        WrongAccounts(
            "type: jwks-url, url: \"{self}/ims/dev-issuers/rotating/jwks.json\"",
            to: "type: jwks-url, url: \"nowhere\"", complaint: "is not a URL"),
        WrongAccounts(
            "type: jwks-url, url: \"{self}/ims/dev-issuers/rotating/jwks.json\"",
            to: "type: jwks_url, url: \"https://a.test\"",
            complaint: "expected one of them, found “jwks_url”; did you mean “jwks-url”?"),
        WrongAccounts(
            "\"https://auth.other.test\"", to: "\"https://auth.other.test\\n\"",
            complaint: "found \"https://auth.other.test\\n\"; expected an address without blanks and line breaks"),
        WrongAccounts("keys/k8.pem", to: "keys/k88.pem", complaint: "no such file"),
        WrongAccounts("keys/k8.pem", to: "failures.yaml", complaint: "is not a private key in PEM"),
        WrongAccounts("id: \"usr-4\"", to: "id: \"usr-1\"", complaint: "another user has the id usr-1"),
        WrongAccounts(
            "state: deactivated", to: "state: gone", complaint: "“gone” is not one of enrolled, active, deactivated"),
        WrongAccounts(
            "name: \"rotating\"\n    key:", to: "name: \"uat\"\n    key:", complaint: "another dev issuer is called uat"
        ),
        WrongAccounts("dev_issuers:", to: "dev_isuers:", complaint: "did you mean “dev_issuers”?"),
    ]
}
