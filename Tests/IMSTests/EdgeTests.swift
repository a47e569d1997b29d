import Emulation
import Expectations
import Foundation
import JSON
import Support
import Testing
import Tokens
import Understudy

@testable import IMS

@Suite("IMS at the edges") struct EdgeTests {
    // MARK: Keys

    @Test("a refresh whose issuer got another URL meanwhile asks that one") func refresh() async throws {
        let world = try await World()
        try await world.delayKeys()
        async let answer = world.call(.post, "/ims/v1/issuers/rotating/refresh", .operatorKey)
        let url = "{self}/ims/dev-issuers/cognito/jwks.json"
        try await world.waitForFetch()
        try await world.control(.delete, "faults")
        let body = Example.issuer(
            "rotating", iss: Forged.Issuer.rotating.rawValue, ["type": "jwks-url", "url": .string(url)])
        try await world.call(.put, "/ims/v1/issuers/rotating", .operatorKey, body).expect(200)
        let received = try await answer
        expect(received.json["keys"]?["url"]?.string, is: url, "\(received.text)")
        expect(received.json["keys"]?["kids"], is: ["k4"])
        try await world.me(Forged(.rotating)).expectRefusal(401, "kid-unknown")
    }

    @Test("an issuer without any key has none that could be had, rather than expired ones") func emptyRing() throws {
        let body = IMSBody(["name": "bare", "issuer": "https://bare.test", "tenant": "demo"])
        let source = IMSKeySource(kind: .publicKey, given: .null, url: nil)
        let record = try body.read { IMSIssuerRecord(&$0, source: source, created: Moment(unixSeconds: 1)) }
        var issuers = IMSIssuerStore()
        issuers.put(IMSIssuer(record, keys: []))
        let vendor = try IMS(fixtures: VendorFixtures(store: Repository.fixtures, folder: "ims"))
        let judge = IMSTokenJudge(
            vendor, (issuers, [:]), IMSSwitches(),
            at: Moment(unixSeconds: 1_800_000_000),
            asking: .done, in: SandboxIdentity(name: SandboxName.standard, start: "00000000"))
        var findings = Findings<IMSFailure>()
        let text = try Forged(.uat, [("iss", "https://bare.test")]).text()
        let outcome = judge.judge(IMSToken(text), &findings)
        expect(findings.failure, is: .keysUnavailable)
        #expect(!outcome.isGenuine)
    }

    // MARK: Secrets

    @Test(
        "private keys that somebody sends stay out of the journal, and so does the operator's key",
        arguments: ["pem", "certs", "jwks", "broken"], ["POST", "PUT"])
    func secrets(_ kind: String, _ method: String) async throws {
        let world = try await World()
        let mark = "c2VjcmV0LXByaXZhdGUta2V5"
        let pem: JSON = .string("-----BEGIN PRIVATE KEY-----\n\(mark)\n-----END PRIVATE KEY-----\n")
        let privates = ["d", "p", "q", "dp", "dq", "qi", "k"].map { ($0, JSON.string(mark)) }
        let jwk = JSON.object(JSONObject([("kty", "RSA"), ("oth", [["r": .string(mark)]])] + privates))
        let keys: JSON =
            switch kind {
            case "certs": ["type": "cert-map", "certs": ["a": pem]]
            case "jwks": ["type": "jwks", "jwks": ["keys": [jwk]]]
            default: ["type": "pem-public-key", "pem": pem]
            }
        var body = Example.issuer("uat", iss: "https://auth.example.test/uat", keys)
        if kind == "broken" { body.removeLast() }
        let answer =
            method == "PUT"
            ? try await world.call(.put, "/ims/v1/issuers/uat", .operatorKey, body)
            : try await world.call(.post, "/ims/v1/issuers", .operatorKey, body)
        answer.expectRefusal(400, kind == "broken" ? "body-malformed" : "private-key-refused")
        let journal = try await world.control(.get, "journal").text
        #expect(!journal.contains(mark))
        #expect(!journal.contains("ims-operator-test-key"))
    }

    // MARK: Rules

    @Test("a Firebase issuer whose iss ends with no project needs an audience") func firebase() async throws {
        let world = try await World()
        func create(_ name: String, _ audience: JSON?) async throws -> ReceivedAnswer {
            var members: JSONObject = ["preset": "firebase"]
            members["audience"] = audience
            let body = Example.issuer(name, iss: "https://\(name).example.test/", try Example.publicKey(), members)
            return try await world.call(.post, "/ims/v1/issuers", .operatorKey, body)
        }
        try await create("slash", nil).expectRefusal(400, "body-invalid", field: "audience")
        try await create("slash", "project").expect(201)
        try await create("other", .null).expect(201)
    }

    @Test("an issuer's own rule beats the switch, null too; absence leaves it to the switch, as answers say")
    func lifetime() async throws {
        let world = try await World()
        try await world.set("ims.max-lifetime-seconds", "60")
        func answer() async throws -> JSON { try await world.call(.get, "/ims/v1/issuers/uat", .operatorKey).json }
        try await world.replaceUAT(["max_lifetime_seconds": .null])
        expect(try await answer()["max_lifetime_seconds"], is: .null)
        try await world.me(Forged()).expect(200)
        try await world.control(.put, "state/ims", try await world.control(.get, "state/ims").text)
        try await world.me(Forged()).expect(200)
        try await world.replaceUAT([:])
        expect(try await answer()["max_lifetime_seconds"], is: 60)
        try await world.me(Forged()).expectRefusal(401, "lifetime-too-long")
        try await world.set("ims.expiry-leeway-seconds", "600")
        try await world.set("ims.not-before-leeway-seconds", "7")
        expect(try await answer()["expiry_leeway_seconds"], is: 600)
        expect(try await answer()["not_before_leeway_seconds"], is: 7)
        try await world.replaceUAT(["max_lifetime_seconds": 600, "expiry_leeway_seconds": 0])
        try await world.me(Forged()).expect(200)
        try await world.me(Forged(.uat, [("exp", 1_800_000_000)])).expectRefusal(401, "token-expired")
    }

    @Test("what an answer says of an issuer, put back, stays in force whatever the switches become")
    func putBack() async throws {
        let world = try await World()
        try await world.set("ims.expiry-leeway-seconds", "600")
        let answer = try await world.call(.get, "/ims/v1/issuers/uat", .operatorKey).json
        var members = JSONObject()
        for name in ["max_lifetime_seconds", "expiry_leeway_seconds", "not_before_leeway_seconds"] {
            members[name] = answer[name]
            #expect(answer.object?[name] != nil, "\(name)")
        }
        try await world.replaceUAT(members)
        expect(try await world.call(.get, "/ims/v1/issuers/uat", .operatorKey).json, is: answer)
        try await world.set("ims.expiry-leeway-seconds", "0")
        try await world.set("ims.max-lifetime-seconds", "60")
        try await world.me(Forged(.uat, [("exp", 1_800_000_000)])).expect(200)
    }

    // MARK: Minting

    @Test(
        "claims at the ends of the numbers are minted or refused, with every defect", arguments: ["nbf", "iat", "exp"])
    func minting(_ claim: String) async throws {
        let world = try await World()
        let kinds = try await world.control(.get, "tokens").json["kinds"]?.array ?? []
        let kind = try #require(kinds.first { $0["vendor"] == "ims" })
        let names = kind["defects"]?.array?.compactMap(\.string) ?? []
        #expect(names.count > 20)
        for name in names {
            for value in [Int.max, Int.min, Int.max - 959] {
                let order: JSON = [
                    "defect": .string(name == "missing-CLAIM" ? "missing-sub" : name),
                    "claims": .object(JSONObject([(claim, JSON(value))])),
                ]
                let answer = try await world.control(.post, "tokens/ims/user", order.text)
                #expect(answer.status == 200 || answer.status == 400, "\(name): \(answer.text)")
                if name == "lifetime-16m", claim == "iat", value > 0 { expect(answer.status, is: 400) }
            }
        }
    }

    // MARK: Lists

    @Test("a file of too many rows is refused as a whole, and an answer lists a thousand errors")
    func longFile() async throws {
        let world = try await World()
        let fields = World.Fields.operatorKey + [("content-type", "text/csv")]
        let path = "/ims/v1/users/import?tenant=demo"
        let many = "email\n" + String(repeating: "a\n", count: IMS.mostRows)
        try await world.call(.post, path, fields, many).expectRefusal(413, "body-too-large")
        let answer = try await world.call(.post, path, fields, "email\n" + String(repeating: "a\n", count: 1500))
        answer.expect(200)
        expect(answer.json["errors"]?.array?.count, is: 1000)
        expect(answer.outcome(of: "import-errors"), is: .noted)
        let wide = String(repeating: "email,", count: 100_000) + "email\n"
        try await world.call(.post, path, fields, wide).expectRefusal(400, "body-invalid", field: "email")
    }

    @Test(
        "a page is asked for by one to a hundred in digits, a cursor as an answer gave it, and times",
        arguments: [
            "limit=0", "limit=101", "limit=x", "limit=%2B5", "limit=5.0", "cursor=x", "cursor=nan_1", "cursor=0x10_1",
            "cursor=%2B1_1", "cursor=1__1", "cursor=1_1_", "cursor=1_0x1", "from=yesterday", "to=1800000000",
        ])
    func page(_ query: String) async throws {
        try await World().call(.get, "/ims/v1/trips?" + query, .ada).expectRefusal(
            400, "body-invalid", field: String(query.prefix { $0 != "=" }))
    }

    @Test("the scenario deactivates the user of the token's own tenant") func deactivation() async throws {
        let world = try await World()
        let twin = #"{"tenant":"other","email":"twin@other.test","enterprise_id":"EMP-0777","activate":true}"#
        try await world.call(.post, "/ims/v1/users", .operatorKey, twin).expect(201)
        try await world.call(.post, "/ims/v1/users", .operatorKey, twin.replacing("other", with: "demo")).expect(201)
        try await world.control(.put, "scenarios", #"{"scenario":"ims-user-deactivated-mid-session"}"#)
        let token = Forged(.uat, [("sub", "EMP-0777")])
        for _ in 1...2 { try await world.me(token).expect(200) }
        try await world.me(token).expectRefusal(403, "user-deactivated")
        try await world.me(Forged(.stranger, [("sub", "EMP-0777")])).expect(200)
    }
}

@Suite("IMS's state, exported and imported") struct ExportTests {
    // MARK: - With other fixtures

    @Test("replaced fixtures: what nobody touched follows them, what was made or changed stays, fetched keys too")
    func reload() async throws {
        let fixtures = try OwnFixtures()
        let touched = try await World(on: Stage(fixtures.emulator(of: "ims")))
        let untouched = try await World(on: touched.stage)
        try await touched.call(.patch, Example.me, .ada, #"{"phone":"+1555"}"#).expect(200)
        try await touched.me(Forged(.rotating)).expect(200)
        try await touched.replaceUAT(["max_lifetime_seconds": 700])
        try fixtures.put(
            "ims/accounts.yaml",
            [
                ("first_name: \"Ada\"", "first_name: \"Augusta\""), ("EMP-0003", "EMP-0033"),
                ("preset: firebase\n", "preset: firebase\n    require_kid: false\n"),
            ])
        try touched.emulator.reload(fixtures.store)
        expect(try await touched.me(Forged()).json["first_name"], is: "Ada", "the record was changed, so it is its own")
        expect(try await untouched.me(Forged()).json["first_name"], is: "Augusta")
        for world in [touched, untouched] {
            try await world.me(Forged(.uat, [("sub", "EMP-0033")])).expectRefusal(403, "user-deactivated")
            let firebase = Forged(.firebase, [("aud", "understudy-demo")]).header("kid", nil)
            try await world.me(firebase).expect(200)
        }
        try await touched.me(Forged(.uat, [("exp", 1_800_000_701)])).expectRefusal(401, "lifetime-too-long")
        try await untouched.me(Forged(.uat, [("exp", 1_800_000_701)])).expect(200)
        try await touched.me(Forged(.rotating)).expect(200)
        expect(try await touched.fetches(), is: 1, "the fetched keys were kept")
    }

    @Test("a key URL that only a switch lets keys be fetched from is remarked on", arguments: ["http", "https"])
    func unusedURL(_ scheme: String) throws {
        let fixtures = try OwnFixtures()
        let url = "\(scheme)://keys.example.test/jwks.json"
        try fixtures.put("ims/accounts.yaml", [("{self}/ims/dev-issuers/rotating/jwks.json", url)])
        let remarks = try fixtures.emulator(of: "ims").inForce.loaded.layers.flatMap(\.warnings)
        let expected =
            "keys are fetched from \(url) only while switch ims.jwks-allow-http names keys.example.test, which is off at first; expected that, or https"
        expect(remarks.count, is: scheme == "http" ? 1 : 0, "\(remarks)")
        expect(
            remarks.first?.hasSuffix("accounts.yaml:60:11: " + expected) ?? (scheme == "https"), is: true, "\(remarks)")
    }

    /// The keys beside the tests are made for them; they protect nothing.
    @Test(
        "a key file that cannot sign with RS256 stops the start",
        arguments: [
            ("empty", "is not a private key in PEM: "),
            ("ecPlain", "found an EC key on P-256; expected an RSA key, as RS256 needs"),
            ("rsa1024Plain", "k2.pem: found an RSA key of 1024 bits; expected 2048 or more"),
        ])
    func unfitKey(_ key: String, _ complaint: String) throws {
        let fixtures = try OwnFixtures()
        let text = try String(contentsOfFile: "\(Repository.root)/Tests/Keys/\(key).pem", encoding: .utf8)
        try fixtures.write(text, to: "ims/keys/k2.pem")
        #expect {
            try fixtures.emulator(of: "ims")
        } throws: {
            "\($0)".contains("ims/keys/k2.pem: ") && "\($0)".contains(complaint)
        }
    }
}

@Suite("IMS's issuers that change while their keys are fetched") struct ForgeryTests {
    private static let start = "/ims/v1/issuers/rotating"

    enum Event: String, CaseIterable, Sendable {
        case reset, importing, deletion, replacement, replacementByURL

        func happen(in world: World, _ exported: String) async throws {
            switch self {
            case .reset: try await world.control(.post, "reset")
            case .importing: try await world.control(.put, "state/ims", exported)
            case .deletion: _ = try await world.call(.delete, ForgeryTests.start, .operatorKey)
            case .replacement:
                let body = ForgeryTests.issuer(try Example.publicKey(2))
                _ = try await world.call(.put, ForgeryTests.start, .operatorKey, body)
            case .replacementByURL:
                let url: JSON = "{self}/ims/dev-issuers/cognito/jwks.json"
                let body = ForgeryTests.issuer(["type": "jwks-url", "url": url])
                // The delay of the fetch under way remains.
                try await world.control(.delete, "faults")
                _ = try await world.call(.put, ForgeryTests.start, .operatorKey, body)
            }
        }
    }

    fileprivate static func issuer(_ keys: JSON) -> String {
        Example.issuer("rotating", iss: Forged.Issuer.rotating.rawValue, keys)
    }

    /// What happens during the fetch, and whether the token that waits for it is forged.
    private static let cases: [(Event, Bool)] =
        Event.allCases.map { ($0, true) } + [(.reset, false), (.importing, false)]

    @Test(
        "a forged token gets nowhere, whatever happens meanwhile; a good one is judged by the keys that come after it",
        arguments: cases)
    func meanwhile(_ event: Event, _ isForged: Bool) async throws {
        let world = try await World()
        let exported = try await world.control(.get, "state/ims").text
        let token = isForged ? Forged(.rotating).signed(by: 9) : Forged(.rotating)
        try await world.delayKeys()
        async let answer = world.me(token)
        try await world.waitForFetch()
        try await event.happen(in: world, exported)
        let received = try await answer
        guard isForged else {
            expect(received.status, is: 200)
            expect(received.outcome(of: "signature"), is: .passed)
            return
        }
        #expect([401, 503].contains(received.status), "\(received.text)")
        let entries = world.sandbox.journal.entries().filter { $0.record.route == "me.get" }
        #expect(entries.allSatisfy { $0.record.failure != nil })
    }
}

extension World {
    /// Delays the keys of `rotating` long enough for something to happen during the fetch.
    func delayKeys() async throws {
        let delay = #"{"vendor":"ims","route":"dev-issuer.jwks","fault":{"delay":"5s"}}"#
        try await control(.put, "faults", delay).expect(200)
    }

    /// Waits until the keys of `rotating` are being fetched: the dev issuer has been asked, and its answer is delayed.
    func waitForFetch() async throws {
        for _ in 0..<10_000 {
            let listing = try await control(.get, "keys").json
            let issuer = listing["issuers"]?.array?.first {
                $0["vendor"] == "ims" && $0["issuer"]?.string == "rotating"
            }
            if issuer?["fetches"] != 0 { return }
            try await Task.sleep(for: .milliseconds(1))
        }
        Issue.record("nobody asks for keys")
    }
}
