import JSON
import Support
import Testing

/// Tokens on demand, and Bloomreach's answer to each of their defects.
@Suite("Bloomreach's minted tokens")
struct MintingTests {
    @Test("what the example world holds is minted byte for byte")
    func exampleWorld() async throws {
        let world = try await World()
        #expect(try await world.mint("bloomreach/customer-token") == Example.jwtAna)
        #expect(try await world.mint("bloomreach/customer-token", ["expires_in": -1000]) == Example.jwtAnaOld)
        #expect(try await world.mint("bloomreach/stream-token") == Example.jwtStream)
        #expect(
            try await world.mint(
                "bloomreach/customer-token",
                ["project": "demo-project-1", "key": "privkey-demo-1", "customer": "ana@example.test"])
                == Example.jwtAna)
    }

    @Test("header and claims can be set freely")
    func claims() async throws {
        let world = try await World()
        let token = try await world.mint(
            "bloomreach/customer-token",
            ["claims": ["sub": ["registered": "ben@example.test", "cookie": .string(Example.cookieBen)], "x": 1]])
        try await world.call(.post, Example.inbox, .bearer(token), Example.body(Example.ben)).expect(200)
    }

    @Test(
        "an order that cannot be filled is refused",
        arguments: [
            ("customer-token", #"{"project":"demo-project-2"}"#, "no key"),
            ("customer-token", #"{"project":"demo-project-3"}"#, "did you mean “demo-project-"),
            ("customer-token", #"{"key":"privkey-demo-2"}"#, "did you mean “privkey-demo-1”"),
            ("customer-token", #"{"stream":"demo-stream-1"}"#, "has no member stream"),
            ("customer-token", #"{"customer":""}"#, "customer is empty"),
            ("stream-token", #"{"stream":"demo-stream-3"}"#, "no stream has the id"),
            ("stream-token", #"{"stream":"demo-stream-2"}"#, "no customer of demo-project-2"),
            ("stream-token", #"{"defect":"customer-token-expired"}"#, "customer-token-expired"),
        ])
    func refused(_ kind: String, _ order: String, _ part: String) async throws {
        let answer = try await World().control(.post, "tokens/bloomreach/" + kind, order)
        #expect(answer.status >= 400)
        #expect(answer.text.contains(part), "\(answer.text)")
    }

    @Test("a token explains itself without its request")
    func explanation() async throws {
        let world = try await World()
        func verdict(_ token: String, _ request: JSON = [:]) async throws -> JSON? {
            let order: JSON = ["token": .string(token), "request": request]
            let answer = try await world.control(.post, "tokens/explain", order.text)
            return answer.json["verdicts"]?.array?.first { $0["vendor"] == "bloomreach" }
        }
        let ana = try await verdict(Example.jwtAna)
        #expect(ana?["accepted"] == true)
        #expect(ana?["kind"] == "customer-token")
        #expect(ana?["account"] == "project demo-project-1, key privkey-demo-1")
        let old = try await verdict(Example.jwtAnaOld)
        #expect(old?["failure"] == "customer-token-expired")
        #expect(old?["answer"]?["body"]?["token_expired"] == true)
        let stream = try await verdict(Example.jwtStream)
        #expect(stream?["kind"] == "stream-token")
        #expect(stream?["account"] == "stream demo-stream-1, key signkey-demo-1")
        let elsewhere = try await verdict(Example.jwtStream, ["stream": "demo-stream-2"])
        #expect(elsewhere?["failure"] == "stream-token-wrong-stream")
        let foreign = try await verdict(Example.jwtAna, ["project": "demo-project-2"])
        #expect(foreign?["failure"] == "customer-token-unknown-key")
        #expect(try await verdict("no token")?["failure"] == "customer-token-malformed")
    }

    @Test("the journal names the mistake with the secret")
    func diagnosis() async throws {
        let world = try await World()
        let token = try await world.mint("bloomreach/customer-token", ["defect": "secret-base64-decoded"])
        let answer = try await world.call(.post, Example.inbox, .bearer(token), Example.body(Example.ana))
        answer.expect(401, Example.invalidToken, "customer-token-bad-signature")
        #expect(answer.outcome(of: "secret-base64-decoded") == .noted)
    }

    @Test("the call of the example apps: a moment of the past is signed as given, and a missing one is an hour ahead")
    func exampleApp() async throws {
        let world = try await World()
        func mint(_ members: String) async throws -> ReceivedAnswer {
            try await world.call(
                .post, Example.mint, [],
                #"{"project_id":"demo-project-1","kid":"privkey-demo-1","sub":{"registered":"ana@example.test"}\#(members)}"#
            )
        }
        try await mint("").expect(200, #"{"customer_token":"\#(Example.jwtAna)","expire_time":1800003600}"#)
        try await mint(#","exp":1799999000"#).expect(
            200, #"{"customer_token":"\#(Example.jwtAnaOld)","expire_time":1799999000}"#)
        try await mint(#","exp":null"#).expect(200)
    }

    @Test(
        "a sub that is not a map of ids",
        arguments: [
            #""ana""#, "{}", #"{"registered":""}"#, #"{"registered":7}"#, "[]",
            // Subs that no token reader accepts.
            #"{"":"ana"}"#, #"{"registered":"ana","registered":"ben"}"#,
            "{" + (0...50).map { #""id\#($0)":"x""# }.joined(separator: ",") + "}",
            #"{"registered":"\#(String(repeating: "x", count: 13_000))"}"#,
        ])
    func badSubject(_ subject: String) async throws {
        let world = try await World()
        let body = #"{"project_id":"demo-project-1","kid":"privkey-demo-1","sub":\#(subject)}"#
        try await world.call(.post, Example.mint, [], body).expect(
            400, Example.error("sub must be a map of customer ids"), "mint-bad-subject")
    }

    @Test(
        "what is minted is read: as many ids as there can be, and a long one",
        arguments: [
            "{" + (0..<50).map { #""id\#($0)":"x""# }.joined(separator: ",") + "}",
            #"{"registered":"\#(String(repeating: "x", count: 10_000))"}"#, #"{"cookie":"c"}"#,
        ])
    func readable(_ subject: String) async throws {
        let world = try await World()
        let body = #"{"project_id":"demo-project-1","kid":"privkey-demo-1","sub":\#(subject)}"#
        let minted = try await world.call(.post, Example.mint, [], body)
        let token = try #require(minted.json["customer_token"]?.string)
        try await world.call(.post, Example.inbox, .bearer(token), "{}").expect(200)
    }
}
