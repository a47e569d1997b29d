import Expectations
import JSON
import Support
import Testing
import Tokens

/// Members of key sets that cannot be used, and limits that cannot be bypassed.
@Suite("IMS's skipped keys") struct SkippedKeyTests {
    private static func jwk(_ number: Int, _ kid: String, _ changes: JSONObject = [:]) throws -> JSON {
        var key = try Forged.key(number)
        key.id = kid
        var members = key.publicJWK()?.object ?? [:]
        for member in changes { members[member.name] = member.value }
        return .object(members)
    }

    private static let secret: JSON = ["kty": "oct", "kid": "shared", "k": "c2VjcmV0LWJ5dGVz"]

    private func create(_ world: World, _ keys: JSON) async throws -> ReceivedAnswer {
        try await world.call(
            .post, "/ims/v1/issuers", .operatorKey, Example.issuer("new", iss: "https://new.example.test", keys))
    }

    @Test("a shared secret of an inline set is not kept") func secretsAreForgotten() async throws {
        let world = try await World()
        let set: JSON = ["keys": [Self.secret, try Self.jwk(2, "a")]]
        try await create(world, ["type": "jwks", "jwks": set]).expect(201)
        let state = try await world.control(.get, "state/ims")
        expect(state.status, is: 200)
        #expect(state.text.contains("\"shared\""))
        #expect(!state.text.contains("c2VjcmV0LWJ5dGVz"))
    }

    @Test("a fetched set tells the same, and warns of a private key") func fetched() async throws {
        let world = try await World()
        let keys: [JSON] = [Self.secret, try Self.jwk(2, "a"), try Self.jwk(3, "b", ["d": "AQAB"])]
        let rule: JSON = ["route": "dev-issuer.jwks", "respond": ["status": 200, "body": ["keys": .array(keys)]]]
        let armed = try await world.control(.put, "faults", rule.text)
        try #require((200...299).contains(armed.status), "\(armed.text)")
        let answer = try await create(world, ["type": "jwks-url", "url": "{self}/ims/dev-issuers/rotating/jwks.json"])
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
        let state = try await world.control(.get, "state/ims")
        let imported = try await world.control(.put, "state/ims", state.text)
        try #require((200...299).contains(imported.status), "\(imported.text)")
        let other = try await World()
        let user: JSON = [
            "id": "usr-9", "tenant": "demo", "enterprise_id": "EMP-0009", "activation_id": "nine",
            "email": "n@example.test",
            "state": "enrolled", "created_at": 1_800_000_000,
        ]
        var document = state.json.object ?? [:]
        document["users"] = .array((document["users"]?.array ?? []) + [user])
        let put = try await other.control(.put, "state/ims", JSON.object(document).text)
        try #require((200...299).contains(put.status), "\(put.text)")
        let answer = try await other.call(
            .post, "/ims/v1/activation", .bearer(try Forged(.uat, [("sub", "EMP-0009")]).text()),
            #"{"activation_id":"nine","activation_code":"12345678","email":"n@example.test"}"#)
        answer.expectRefusal(400, "activation-code-wrong")
        expect(
            answer.entry?.explanation?.contains("usr-9 has no activation code"), is: true,
            "\(answer.entry?.explanation ?? "")")
        expect(answer.entry?.explanation?.contains("another"), is: false)
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

    @Test("a forged token gets nowhere, whatever happens to its issuer meanwhile", arguments: Event.allCases)
    func forged(_ event: Event) async throws {
        let world = try await World()
        let exported = try await world.control(.get, "state/ims").text
        try await world.delayKeys()
        async let answer = world.call(.get, Example.me, .bearer(try Forged(.rotating).signed(by: 9).text()))
        try await world.waitForFetch()
        try await event.happen(in: world, exported)
        let status = try await answer.status
        #expect(status == 401 || status == 503)
        let entries = world.sandbox.journal.entries().filter { $0.record.route == "me.get" }
        #expect(entries.allSatisfy { $0.record.failure != nil })
    }

    @Test("a good token is judged by the keys that come after it", arguments: [Event.reset, .importing])
    func genuine(_ event: Event) async throws {
        let world = try await World()
        let exported = try await world.control(.get, "state/ims").text
        try await world.delayKeys()
        async let answer = world.call(.get, Example.me, .bearer(try Forged(.rotating).text()))
        try await world.waitForFetch()
        try await event.happen(in: world, exported)
        let received = try await answer
        expect(received.status, is: 200)
        expect(received.outcome(of: "signature"), is: .passed)
    }
}

extension World {
    /// Delays the keys of `rotating` long enough for something to happen during the fetch.
    func delayKeys() async throws {
        let put = try await control(
            .put, "faults", #"{"vendor":"ims","route":"dev-issuer.jwks","fault":{"delay":"1s"}}"#)
        guard put.status < 300 else { throw PreparationFailure(answer: put.text) }
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
        throw PreparationFailure(answer: "nobody asks for keys")
    }
}
