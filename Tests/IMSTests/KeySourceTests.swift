import Expectations
import JSON
import Support
import Testing
import Tokens

@testable import IMS

@Suite("IMS's key sources") struct KeySourceTests {
    private static func certificate(_ world: World) async throws -> JSON {
        try await world.call(.get, "/ims/dev-issuers/firebase/certs").json["k3"] ?? .null
    }

    @Test("are published by dev issuers with their members in the order of the contract")
    func publishedOrder() async throws {
        let answer = try await World().call(.get, "/ims/dev-issuers/rotating/jwks.json")
        let key = try #require(answer.json["keys"]?[0]?.object)
        expect(key.map(\.name), is: ["kty", "alg", "use", "kid", "n", "e"])
    }

    @Test("PEM text holds one public key or several, of which four are tried in turn, whatever a kid says")
    func publicKeys() async throws {
        let world = try await World()
        let text = try (2...6).map(Forged.pem).joined(separator: "\n")
        let answer = try await world.createIssuer(["type": "pem-public-key", "pem": .string(text)])
        answer.expect(201)
        expect(answer.json["keys"]?["kids"], is: [.null, .null, .null, .null, .null])
        for (key, kid) in [(2, nil), (5, nil), (5, "k9")] { try await world.me(.new(by: key, kid: kid)).expect(200) }
        for key in [6, 7] { try await world.me(.new(by: key)).expectRefusal(401, "signature-invalid") }
    }

    @Test("a PEM key may have a kid, which tokens then name or leave out") func namedKey() async throws {
        let world = try await World()
        try await world.createIssuer(["type": "pem-public-key", "pem": .string(Forged.pem(2)), "kid": "a"]).expect(201)
        try await world.me(.new(by: 2, kid: "a")).expect(200)
        try await world.me(.new(by: 2)).expect(200)
        try await world.me(.new(by: 2, kid: "b")).expectRefusal(401, "kid-unknown")
    }

    @Test("a JWKS, inline: keys that cannot be used are skipped") func keySet() async throws {
        let world = try await World()
        let keys: [JSON] = [
            ["kty": "EC", "crv": "P-256", "kid": "ec", "x": "AA", "y": "AA"], try Forged.jwk(2, kid: "a"),
            try Forged.jwk(3, kid: "enc", [("use", "enc")]), try Forged.jwk(4, kid: "b", [("alg", "RS512")]),
            try Forged.jwk(5, kid: "c", [("x", 7), ("key_ops", ["verify"]), ("use", nil)]),
        ]
        let answer = try await world.createIssuer(["type": "jwks", "jwks": ["keys": .array(keys)]])
        answer.expect(201)
        expect(answer.json["keys"]?["kids"], is: ["a", "c"])
        try await world.me(.new(by: 5, kid: "c")).expect(200)
        try await world.me(.new(by: 4, kid: "b")).expectRefusal(401, "kid-unknown")
        try await world.me(.new(by: 2)).expectRefusal(401, "kid-required")
    }

    private static let secret: JSON = ["kty": "oct", "kid": "shared", "k": "c2VjcmV0LWJ5dGVz"]

    @Test("a shared secret of an inline set is not kept") func secretsAreForgotten() async throws {
        let world = try await World()
        let set: JSON = ["keys": [Self.secret, try Forged.jwk(2, kid: "a")]]
        try await world.createIssuer(["type": "jwks", "jwks": set]).expect(201)
        let state = try await world.control(.get, "state/ims")
        expect(state.status, is: 200)
        #expect(state.text.contains("\"shared\""))
        #expect(!state.text.contains("c2VjcmV0LWJ5dGVz"))
    }

    @Test("a fetched set tells the same, and warns of a private key") func fetchedSet() async throws {
        let world = try await World()
        let keys: [JSON] = [
            Self.secret, try Forged.jwk(2, kid: "a"), try Forged.jwk(3, kid: "b", [("d", "AQAB")]),
        ]
        let rule: JSON = ["route": "dev-issuer.jwks", "respond": ["status": 200, "body": ["keys": .array(keys)]]]
        try await world.control(.put, "faults", rule.text).expect(200)
        let answer = try await world.createIssuer(
            ["type": "jwks-url", "url": "{self}/ims/dev-issuers/rotating/jwks.json"])
        answer.expect(201)
        expect(
            answer.json["warnings"],
            is: [
                "private-key-published: key 2 “b”: a private key; expected a public one",
                "key-skipped: key 0 “shared”: a shared secret (oct); expected a public key",
            ], "\(answer.text)")
        let finding = answer.findings.first { $0.check == "keys-fetched" }
        expect(finding?.note?.contains("key 2 “b”: a private key"), is: true)
    }

    @Test("a certificate map, inline, as the third party publishes it") func certificateMap() async throws {
        let world = try await World()
        let certs: JSON = ["k3": try await Self.certificate(world), "broken": "none", "odd": 7]
        let answer = try await world.createIssuer(["type": "cert-map", "certs": certs], ["preset": "firebase"])
        answer.expect(201)
        expect(answer.json["keys"]?["kids"], is: ["k3"])
        expect(answer.json["audience"], is: "new.example.test")
        let token = Forged(.uat, [("iss", .string(Example.newIssuer)), ("aud", ["x", "new.example.test"])])
        try await world.me(token.signed(by: 3).header("kid", "k3")).expect(200)
        let warnings = answer.json["warnings"]?.array?.compactMap(\.string) ?? []
        #expect(warnings.count == 2 && warnings.allSatisfy { $0.hasPrefix("key-skipped: “") }, "\(answer.text)")
    }

    @Test("a JWKS in a file of the fixture folder") func keySetFile() async throws {
        let fixtures = try OwnFixtures()
        let set: JSON = ["keys": [try Forged.jwk(2, kid: "filed")]]
        try fixtures.write(set.text, to: "ims/sets/partner.json")
        let world = try await World(on: Stage(fixtures.emulator(of: "ims")))
        let answer = try await world.createIssuer(["type": "jwks-file", "file": "sets/partner.json"])
        answer.expect(201)
        expect(answer.json["keys"]?["kids"], is: ["filed"])
        try await world.me(.new(by: 2)).expect(200)
    }

    @Test("published certificates are certificates of the keys, valid from 2020 to 2040")
    func published() async throws {
        let pem = try #require(try await Self.certificate(World()).string)
        let key = try #require(try VerificationKey.pem(pem).first)
        expect(key.thumbprint, is: (try Forged.key(3).thumbprint))
        expect(key.validity?.notBefore, is: 1_577_836_800)
        expect(key.validity?.notAfter, is: 2_208_988_800)
    }

    @Test("a fetched source is asked at once, and a failure is only a warning") func fetched() async throws {
        let world = try await World()
        let source: JSON = ["type": "cert-map-url", "url": "{self}/ims/dev-issuers/firebase/certs"]
        let answer = try await world.createIssuer(source)
        answer.expect(201)
        expect(answer.json["keys"]?["kids"], is: ["k3"])
        expect(answer.json["keys"]?["fetched_at"], is: 1_800_000_000)
        expect(answer.json["warnings"], is: [])
        let away: JSON = ["type": "jwks-url", "url": "http://127.0.0.1:1/jwks.json"]
        let replaced = try await world.call(
            .put, "/ims/v1/issuers/new", .operatorKey, Example.issuer("new", iss: Example.newIssuer, away))
        replaced.expect(200)
        expect(replaced.json["keys"]?["kids"], is: [])
        expect(replaced.json["keys"]?["fetched_at"], is: .null)
        expect(replaced.json["warnings"], is: ["jwks-unreachable"])
        expect(replaced.outcome(of: "keys-fetched"), is: .noted)
        try await world.me(.new(by: 3)).expectRefusal(503, "keys-unavailable")
    }

    private static let wrong: [(JSON, String, String?)] = [
        (["type": "pem"], "body-invalid", "keys.type"), ([:], "body-invalid", "keys.type"),
        (["type": "jwks-url"], "body-invalid", "keys.url"),
        (["type": "jwks", "jwks": []], "body-invalid", "keys.jwks"),
        (["type": "jwks", "jwks": [:], "kid": "a"], "body-invalid", "keys.kid"),
        (["type": "pem-public-key", "pem": 7], "body-invalid", "keys.pem"),
        (["type": "jwks", "jwks": ["key": []]], "key-source-invalid", nil),
        (["type": "cert-map", "certs": [:]], "key-source-invalid", nil),
        (["type": "jwks-file", "file": "../rezolve/accounts.yaml"], "key-source-invalid", nil),
        (["type": "jwks-file", "file": "/etc/passwd"], "key-source-invalid", nil),
        (["type": "jwks-file", "file": "keys/k1.pem"], "key-source-invalid", nil),
        (["type": "jwks-file", "file": "none.json"], "key-source-invalid", nil),
        (
            ["type": "pem-certificate", "pem": "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"],
            "key-source-invalid", nil
        ),
        (["type": "pem-public-key", "pem": "-----BEGIN ENCRYPTED PRIVATE KEY-----"], "private-key-refused", nil),
    ]

    @Test("a wrong source is refused, and nothing is onboarded", arguments: wrong)
    func refused(_ keys: JSON, _ failure: String, _ field: String?) async throws {
        let world = try await World()
        try await world.createIssuer(keys).expectRefusal(400, failure, field: field)
        expect(try await world.call(.get, "/ims/v1/issuers", .operatorKey).json["issuers"]?.array?.count, is: 7)
    }

    @Test("two keys of one kid, a certificate as public key, and a public key as certificate are refused")
    func mismatches() async throws {
        let world = try await World()
        let twice: JSON = ["keys": [try Forged.jwk(2, kid: "a"), try Forged.jwk(3, kid: "a")]]
        let certificate = try await Self.certificate(world)
        for keys: JSON in [
            ["type": "jwks", "jwks": twice], ["type": "pem-public-key", "pem": certificate],
            ["type": "pem-certificate", "pem": .string(try Forged.pem(2))],
            ["type": "pem-public-key", "pem": .string(try Forged.pem(2) + Forged.pem(3)), "kid": "a"],
        ] {
            try await world.createIssuer(keys).expectRefusal(400, "key-source-invalid")
        }
    }

    @Test(
        "a member of an issuer that is wrong is named",
        arguments: [
            ("issuer", ""), ("issuer", .string(String(repeating: "x", count: 256))), ("tenant", "Demo"),
            ("environment", "test"), ("preset", "auth0"), ("require_kid", 1), ("require_typ", "yes"),
            ("audience", ""), ("token_use", 7), ("max_lifetime_seconds", 0), ("max_lifetime_seconds", 1.5),
            ("replay", "never"), ("certificate_dates", nil), ("expiry_leeway_seconds", 601),
            ("not_before_leeway_seconds", -1), ("expiry_leeway_seconds", .null), ("isuer", "x"), ("name", "New"),
        ] as [(String, JSON)])
    func wrongMember(_ name: String, _ value: JSON) async throws {
        try await World().createIssuer(try Example.publicKey(), [name: value]).expectRefusal(
            400, "body-invalid", field: name)
    }

    @Test("presets set defaults, and each rule can be given all the same") func presets() async throws {
        let world = try await World()
        let rules: JSONObject = [
            "preset": "cognito", "token_use": "access", "audience": "app", "require_kid": false, "require_typ": true,
        ]
        try await world.createIssuer(Example.publicKey(2), rules).expect(201)
        let token = Forged(.uat, [("iss", .string(Example.newIssuer)), ("token_use", "access")]).signed(by: 2)
        try await world.me(token).expectRefusal(401, "audience-mismatch", field: "client_id")
        var good = token
        good.claims["client_id"] = "app"
        try await world.me(good).expect(200)
        try await world.me(good.header("typ", nil)).expectRefusal(401, "typ-not-allowed")
    }

    @Test("a replaced issuer keeps its name, its place and its time") func replacement() async throws {
        let world = try await World()
        try await world.advance("60s")
        let other = Example.issuer("uatt", iss: "https://auth.example.test/uat", try Example.publicKey())
        try await world.call(.put, "/ims/v1/issuers/uat", .operatorKey, other).expectRefusal(
            400, "body-invalid", field: "name")
        let taken = Example.issuer("uat", iss: Forged.Issuer.rotating.rawValue, try Example.publicKey())
        try await world.call(.put, "/ims/v1/issuers/uat", .operatorKey, taken).expectRefusal(
            409, "issuer-exists", field: "issuer")
        let moved = Example.issuer("uat", iss: Example.newIssuer, try Example.publicKey(2))
        let answer = try await world.call(.put, "/ims/v1/issuers/uat", .operatorKey, moved)
        answer.expect(200)
        expect(answer.json["created_at"], is: 1_800_000_000)
        let listed = try await world.call(.get, "/ims/v1/issuers", .operatorKey).json["issuers"]
        expect(listed?[0]?["name"], is: "uat")
        try await world.me(Forged()).expectRefusal(401, "issuer-unknown")
        try await world.me(.new(by: 2)).expect(200)
        try await world.call(.delete, "/ims/v1/issuers/uatt", .operatorKey).expectRefusal(404, "issuer-not-found")
    }
}

@Suite("IMS's key URLs") struct KeyURLTests {
    private func isAllowed(_ url: String, named: Set<String> = []) -> Bool {
        IMSKeyURL(url).map { $0.obstacle(IMSSwitches(), named: named) == nil } ?? false
    }

    @Test(
        "this machine and this server are allowed, with and without TLS",
        arguments: [
            "http://127.0.0.1:9000/jwks.json", "http://127.255.1.2/", "https://localhost", "HTTP://LocalHost:80/x?y=z",
            "http://keys.localhost/x", "http://[::1]:80/jwks", "{self}/ims/dev-issuers/uat/jwks.json",
        ])
    func loopback(_ url: String) { #expect(isAllowed(url)) }

    @Test(
        "what only looks like this machine is not",
        arguments: [
            "http://127.0.0.1.example.com/", "http://127.1/", "http://0127.0.0.1/", "http://127.0.0.256/",
            "http://0x7f.0.0.1/", "http://2130706433/", "http://localhost.example.com/", "http://notlocalhost/",
            "http://[::2]/", "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/", "http://169.254.169.254/latest",
            "http://localhost./",
        ])
    func disguises(_ url: String) { #expect(!isAllowed(url)) }

    @Test(
        "what two readers may read differently is no key URL",
        arguments: [
            "", "jwks.json", "ftp://localhost/x", "http:/localhost/", "http://", "http://localhost@example.com/",
            "http://example.com@localhost/", "http://localhost:0/", "http://localhost:99999/", "http://localhost:/x",
            "http://localhost:80:80/", "http://local host/", "http://localhost\\@example.com/", "http://localhost#x",
            "http://localhost/\u{7F}", "http://lücalhost/", "{self}", "{self}x", "{self}@example.com/", "file:///etc",
            "http://[::1/", "http://[]/", "http://[::1]x/", "http://" + String(repeating: "a", count: 2100),
        ])
    func unreadable(_ url: String) { expect(IMSKeyURL(url), is: nil) }

    @Test("a named host is allowed with TLS only, whatever its case") func named() {
        #expect(isAllowed("https://Keys.Example.test:8443/x", named: ["keys.example.test"]))
        #expect(!isAllowed("http://keys.example.test/x", named: ["keys.example.test"]))
        #expect(!isAllowed("https://other.example.test/x", named: ["keys.example.test"]))
        #expect(!isAllowed("https://x.keys.example.test/x", named: ["keys.example.test"]))
    }

    @Test("a host that a fixture names may be onboarded, one of a switch that is taken back is asked no more")
    func hosts() async throws {
        let fixtures = try OwnFixtures()
        try fixtures.put(
            "ims/accounts.yaml",
            [("url: \"{self}/ims/dev-issuers/rotating/jwks.json\"", "url: \"https://127.1:1/jwks.json\"")])
        let world = try await World(on: Stage(fixtures.emulator(of: "ims")))
        let keys: JSON = ["type": "jwks-url", "url": "https://127.1:1/other.json"]
        let created = try await world.createIssuer(keys)
        created.expect(201)
        expect(created.json["warnings"], is: ["jwks-unreachable"])
        let other = try await World()
        try await other.set("ims.jwks-allow", "127.1")
        try await other.createIssuer(keys).expect(201)
        try await other.set("ims.jwks-allow", "")
        let state = try await other.control(.get, "state/ims").text
        try await other.control(.put, "state/ims", state).expect(200)
        let answer = try await other.me(Forged(.rotating, [("iss", .string(Example.newIssuer))]))
        answer.expectRefusal(503, "keys-unavailable")
        expect(answer.outcome(of: "keys-fetched"), is: nil, "nothing was asked for")
        let note = answer.findings.first { $0.check == "keys" }?.note
        expect(note, is: "This URL is never fetched, however long you wait.")
        try await other.call(.post, "/ims/v1/issuers/new/refresh", .operatorKey).expectRefusal(
            400, "jwks-url-not-allowed")
    }
}
