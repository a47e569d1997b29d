import Expectations
import JSON
import Support
import Testing
import Tokens

/// Members of key sets that cannot be used, and limits that cannot be bypassed.
@Suite("IMS's skipped keys") struct SkippedKeyTests {
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

    @Test("a fetched set tells the same, and warns of a private key") func fetched() async throws {
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

    @Test("a lifetime has a limit also without a beginning, and counts from now")
    func lifetimeWithoutBeginning() async throws {
        let world = try await World()
        try await world.set("ims.missing-not-before", "accept")
        try await world.set("ims.max-lifetime-seconds", "900")
        func token(_ end: Int, _ nbf: JSON? = nil) -> Forged {
            Forged(.uat, [("iat", nil), ("nbf", nbf), ("exp", JSON(end))])
        }
        try await world.me(token(1_800_000_900)).expect(200)
        let answer = try await world.me(token(1_800_000_901))
        answer.expectRefusal(401, "lifetime-too-long")
        expect(answer.entry?.explanation?.contains("Without nbf and iat it counts from now to exp"), is: true)
        try await world.me(token(1_800_000_901, .null)).expectRefusal(401, "lifetime-too-long")
    }

    @Test("a user who was imported without a code is told so") func noCode() async throws {
        let world = try await World()
        let user: JSON = [
            "id": "usr-9", "tenant": "demo", "enterprise_id": "EMP-0009", "activation_id": "nine",
            "email": "n@example.test", "state": "enrolled", "created_at": 1_800_000_000,
        ]
        var document = try await world.control(.get, "state/ims").json.object ?? [:]
        document["users"] = .array((document["users"]?.array ?? []) + [user])
        try await world.control(.put, "state/ims", JSON.object(document).text).expect(200)
        let answer = try await world.call(
            .post, "/ims/v1/activation", .bearer(try Forged(.uat, [("sub", "EMP-0009")]).text()),
            #"{"activation_id":"nine","activation_code":"12345678","email":"n@example.test"}"#)
        answer.expectRefusal(400, "activation-code-wrong")
        let reason = answer.entry?.explanation ?? ""
        #expect(reason.contains("usr-9 has no activation code") && !reason.contains("another"), "\(reason)")
    }

    @Test("an import says which member of which line is wrong") func importLines() async throws {
        let world = try await World()
        let file = """
            email,enterprise_id,activate
            new@example.test,EMP-10,true
            ada@example.test,EMP-11,false
            none,EMP-12,false
            ,EMP-13,false
            x@example.test,,true
            y@example.test,EMP-14,perhaps
            z@example.test
            """
        let answer = try await world.call(
            .post, "/ims/v1/users/import?tenant=demo", .operatorKey + [("content-type", "text/csv")], file)
        answer.expect(
            200,
            #"{"enrolled":1,"activated":1,"errors":[{"line":3,"code":"enrollment-exists"},{"line":4,"code":"body-invalid"},"#
                + #"{"line":5,"code":"body-invalid"},{"line":6,"code":"state-conflict"},{"line":7,"code":"body-invalid"},"#
                + #"{"line":8,"code":"body-invalid"}]}"#)
        let notes = answer.findings.filter { $0.check == "import-line" }.compactMap(\.note)
        expect(
            notes.map { String($0.prefix { $0 != ";" && $0 != "," }) },
            is: [
                "Line 3: usr-1 of tenant demo has the same email", "Line 4: email is “none”", "Line 5: email is empty",
                "Line 6: activate needs an enterprise_id", "Line 7: activate is “perhaps”", "Line 8: 1 fields",
            ], "\(notes)")
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
        let delay = #"{"vendor":"ims","route":"dev-issuer.jwks","fault":{"delay":"1s"}}"#
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
