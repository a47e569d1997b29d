import JSON
import Support
import Testing
import Tokens

/// The one-line reason names the cause.
@Suite("Bloomreach's reasons")
struct ReasonTests {
    private static let privateSecret = "demo-secret-not-real-1"
    private static let streamSecret = "demo-stream-secret-not-real-1"
    private static let anaClaims = #"{"sub":{"registered":"ana@example.test"},"exp":1800003600}"#
    private static let streamClaims = #"{"exp":1800000900,"ids":{"registered":"ana@example.test"}}"#

    private static func signed(
        _ secret: String, kid: String = "privkey-demo-1", _ algorithm: Algorithm = .hs256, claims: String = anaClaims,
        typ: String = "JWT"
    ) throws -> String {
        let header = #"{"alg":"\#(algorithm.rawValue)","typ":"\#(typ)","kid":"\#(kid)"}"#
        let input = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        return input + "."
            + Base64URL.encode(try SigningKey.secret(secret).sign(Array(input.utf8), algorithm: algorithm))
    }

    private static func inbox(_ authorization: @escaping @Sendable () throws -> String)
        -> @Sendable (World) async throws -> ReceivedAnswer
    {
        {
            try await $0.call(
                .post, Example.inbox, [("authorization", try authorization())], Example.body(Example.ana))
        }
    }

    private static func streamInbox(_ authorization: @escaping @Sendable () throws -> String)
        -> @Sendable (World) async throws -> ReceivedAnswer
    {
        {
            try await $0.call(
                .post, Example.streamInbox, [("authorization", try authorization())], Example.body(Example.ana))
        }
    }

    private static let signatures: [Mistake] = [
        Mistake(
            description: "white space added",
            phrases: [
                "private key of project demo-project-1 privkey-demo-1",
                "white space is added at the ends of the secret",
            ],
            send: inbox { "Bearer " + (try signed(privateSecret + "\n")) }),
        Mistake(
            description: "secret base64-encoded", phrases: ["the key is the base64 text of the secret"],
            send: inbox { "Bearer " + (try signed("ZGVtby1zZWNyZXQtbm90LXJlYWwtMQ==")) }),
        Mistake(
            description: "a stream's key for the project's",
            phrases: [
                "matches the secret of signing key of stream demo-stream-1 signkey-demo-1"
            ],
            send: inbox { "Bearer " + (try signed(streamSecret)) }),
        Mistake(
            description: "the project's key for a stream's",
            phrases: [
                "matches the secret of private key of project demo-project-1 privkey-demo-1"
            ],
            send: streamInbox {
                "Bearer " + (try signed(privateSecret, kid: "signkey-demo-1", .hs512, claims: streamClaims))
            }),
        Mistake(
            description: "a public key as kid",
            phrases: [
                "private key of project demo-project-1", "pubkey-demo-1", "public key of project demo-project-1",
            ],
            send: inbox { "Bearer " + (try signed(privateSecret, kid: "pubkey-demo-1")) }),
        Mistake(
            description: "a stream's kid", phrases: ["signing key of stream demo-stream-1 signkey-demo-1"],
            send: inbox { "Bearer " + (try signed(streamSecret, kid: "signkey-demo-1")) }),
        Mistake(
            description: "a kid of nobody",
            phrases: [
                "key-x", "Nobody has a key of that id",
                "matches the private key of project demo-project-1 privkey-demo-1",
            ],
            send: inbox { "Bearer " + (try signed(privateSecret, kid: "key-x")) }),
        Mistake(
            description: "typ in small letters", phrases: ["jwt", "JWT", "Case matters"],
            send: inbox { "Bearer " + (try signed(privateSecret, typ: "jwt")) }),
    ]

    private static let credentials: [Mistake] = [
        Mistake(
            description: "a public key as Bearer", phrases: ["public key of project demo-project-1", "Token KEY"],
            send: inbox { "Bearer pubkey-demo-1" }),
        Mistake(
            description: "a secret as Bearer", secrets: [privateSecret],
            phrases: ["the secret of the private key of project demo-project-1 privkey-demo-1", "never sent"],
            send: inbox { "Bearer " + privateSecret }),
        Mistake(
            description: "a JWT as Token", secrets: [Example.jwtAna], phrases: ["a JWT, which is sent as Bearer JWT"],
            send: inbox { "Token " + Example.jwtAna }),
        Mistake(
            description: "another project's public key", phrases: ["demo-project-1", "a public key of demo-project-2"],
            send: inbox { "Token pubkey-demo-2" }),
        Mistake(
            description: "a private key's id as Token",
            phrases: ["the id of the private key of project demo-project-1"],
            send: inbox { "Token privkey-demo-1" }),
        Mistake(
            description: "a public key in Basic",
            phrases: ["private key of demo-project-1", "a public key of demo-project-1"],
            send: {
                let pair = Base64URL.encode(Array("pubkey-demo-1:x".utf8))
                return try await $0.call(
                    .post, Example.events, [("authorization", "Basic " + pair)],
                    Example.body(Example.ana, #""event_type":"x""#))
            }),
        Mistake(
            description: "a wrong secret in Basic",
            phrases: ["the secret of private key privkey-demo-1", "another text"],
            send: {
                let pair = Base64URL.encode(Array("privkey-demo-1:x".utf8))
                return try await $0.call(
                    .post, Example.events, [("authorization", "Basic " + pair)],
                    Example.body(Example.ana, #""event_type":"x""#))
            }),
        Mistake(
            description: "a stream in the path of a project",
            phrases: ["demo-stream-1", "id of a stream", "stream_id="],
            send: {
                try await $0.call(
                    .post, "/track/v2/projects/demo-stream-1/customers", .token, Example.body(Example.ana))
            }),
        Mistake(
            description: "a project in the path of a stream", phrases: ["demo-project-1", "token of a project"],
            send: {
                try await $0.call(
                    .post, "/webxp/streams/demo-project-1/appinbox/fetch", .streamBearer, Example.body(Example.ana))
            }),
        Mistake(
            description: "a project that is mistyped", phrases: ["demo-projekt-1", "Did you mean “demo-project-1”?"],
            send: {
                try await $0.call(
                    .post, "/track/v2/projects/demo-projekt-1/customers", .token, Example.body(Example.ana))
            }),
    ]

    private static func track(_ body: String) -> @Sendable (World) async throws -> ReceivedAnswer {
        { try await $0.call(.post, Example.events, .token, body) }
    }

    private static let bodies: [Mistake] = [
        Mistake(
            description: "ids of another customer", phrases: ["ana@example.test", "ben@example.test"],
            send: { try await $0.call(.post, Example.inbox, .bearer, Example.body(Example.ben)) }),
        Mistake(
            description: "an id that looks the same", phrases: ["zo\\u00e9", "zoe\\u0301"],
            send: {
                let token = try Forged.customer(claims: "{\"sub\":{\"registered\":\"zo\u{E9}\"},\"exp\":1800003600}")
                return try await $0.call(
                    .post, Example.inbox, .bearer(token), Example.body("{\"registered\":\"zoe\u{301}\"}"))
            }),
        Mistake(
            description: "no event_type", phrases: ["there is no event_type"], send: track(Example.body(Example.ana))),
        Mistake(
            description: "an empty event_type", phrases: ["event_type is empty"],
            send: track(Example.body(Example.ana, #""event_type":"""#))),
        Mistake(
            description: "ids that name nobody", phrases: [#"customer_ids is {"registered":""}"#],
            send: track(Example.body(#"{"registered":""}"#, #""event_type":"x""#))),
        Mistake(
            description: "no ids", phrases: ["there is no customer_ids"], send: track(#"{"event_type":"x"}"#)),
        Mistake(
            description: "ids of a wrong type", phrases: ["customer_ids: registered is a JSON number, not a string"],
            send: track(Example.body(#"{"registered":1}"#, #""event_type":"x""#))),
        Mistake(
            description: "ids that are no object", phrases: ["customer_ids: a JSON array, not an object"],
            send: track(Example.body("[]", #""event_type":"x""#))),
        Mistake(
            description: "ids twice", phrases: ["customer_ids: the name registered occurs twice"],
            send: track(Example.body(#"{"registered":"a","registered":"b"}"#, #""event_type":"x""#))),
        Mistake(
            description: "a timestamp in milliseconds", phrases: ["looks like milliseconds", "2027-01-15T08:00:00Z"],
            send: track(Example.body(Example.ana, #""event_type":"x","timestamp":1800000000000"#))),
        Mistake(
            description: "ids of two customers",
            phrases: ["customer 1", "customer 2", "ana@example.test", "email_id b"],
            send: {
                try await $0.call(
                    .post, Example.customers, .token,
                    Example.body(#"{"registered":"ben@example.test","email_id":"b"}"#)
                ).expect(200)
                return try await $0.call(
                    .post, Example.customers, .token,
                    Example.body(#"{"registered":"ana@example.test","email_id":"b"}"#))
            }),
        Mistake(
            description: "a list of something else", phrases: ["message_ids[1] is a JSON number, not a string"],
            send: {
                try await $0.call(
                    .post, Example.inbox.replacing("fetch", with: "markasread"), .token,
                    Example.body(Example.ana, #""message_ids":["a",1],"sync_token":"v1.1.1.2""#))
            }),
        Mistake(
            description: "a null", phrases: ["sync_token is null"],
            send: {
                try await $0.call(
                    .post, Example.inbox.replacing("fetch", with: "markasread"), .token,
                    Example.body(Example.ana, #""message_ids":["a"],"sync_token":null"#))
            }),
        Mistake(
            description: "an empty batch", phrases: ["commands is empty"],
            send: {
                try await $0.call(
                    .post, Example.customers.replacing("customers", with: "batch"), .basic, #"{"commands":[]}"#)
            }),
        Mistake(
            description: "an empty body", phrases: ["the body is empty, not a JSON object"], send: track("")),
    ]

    @Test("names the cause, both sides, and no secret", arguments: signatures + credentials + bodies)
    func reason(_ mistake: Mistake) async throws { try await mistake.check(in: World()) }

    @Test("an exp in milliseconds that passes leaves a note")
    func milliseconds() async throws {
        let token = try Self.signed(
            Self.privateSecret, claims: #"{"sub":{"registered":"ana@example.test"},"exp":1800003600000}"#)
        let answer = try await World().call(.post, Example.inbox, .bearer(token), Example.body(Example.ana))
        answer.expect(200)
        #expect(answer.outcome(of: "milliseconds-exp") == .noted)
    }

    @Test("a tracked time that looks like milliseconds and passes leaves a note")
    func trackedMilliseconds() async throws {
        let body = Example.body(Example.ana, #""event_type":"x","timestamp":180000000000"#)
        let answer = try await World().call(.post, Example.events, .token, body)
        answer.expect(200)
        #expect(answer.outcome(of: "milliseconds-timestamp") == .noted)
    }
}
