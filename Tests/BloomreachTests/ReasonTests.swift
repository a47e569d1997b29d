import Expectations
import JSON
import Support
import Testing
import Tokens

@Suite("Bloomreach's reasons") struct ReasonTests {
    /// A header with another `kid` than that of the example's key.
    private static func header(_ kid: String) -> String { #"{"alg":"HS256","typ":"JWT","kid":"\#(kid)"}"# }

    private static func inbox(
        at path: String = Example.inbox, _ authorization: @escaping @Sendable () throws -> String
    ) -> World.Send {
        { try await $0.call(.post, path, [("authorization", try authorization())], Example.body(Example.ana)) }
    }

    private static let signatures: [Mistake] = [
        Mistake(
            "white space added",
            says: "private key of project demo-project-1 privkey-demo-1",
            "white space is added at the ends of the secret",
            by: inbox { "Bearer " + (try Forged.customer(secret: Example.secret + "\n")) }),
        Mistake(
            "secret base64-encoded", says: "the key is the base64 text of the secret",
            by: inbox { "Bearer " + (try Forged.customer(secret: "ZGVtby1zZWNyZXQtbm90LXJlYWwtMQ==")) }),
        Mistake(
            "a stream's key for the project's",
            says: "matches the secret of signing key of stream demo-stream-1 signkey-demo-1",
            by: inbox { "Bearer " + (try Forged.customer(secret: Example.streamSecret)) }),
        Mistake(
            "the project's key for a stream's",
            says: "matches the secret of private key of project demo-project-1 privkey-demo-1",
            by: inbox(at: Example.streamInbox) { "Bearer " + (try Forged.stream(secret: Example.secret)) }),
        Mistake(
            "a public key as kid",
            says: "private key of project demo-project-1", "pubkey-demo-1", "public key of project demo-project-1",
            by: inbox { "Bearer " + (try Forged.customer(header: header("pubkey-demo-1"))) }),
        Mistake(
            "a stream's kid", says: "signing key of stream demo-stream-1 signkey-demo-1",
            by: inbox {
                "Bearer " + (try Forged.customer(header: header("signkey-demo-1"), secret: Example.streamSecret))
            }),
        Mistake(
            "a kid of nobody",
            says: "key-x", "Nobody has a key of that id",
            "matches the private key of project demo-project-1 privkey-demo-1",
            by: inbox { "Bearer " + (try Forged.customer(header: header("key-x"))) }),
        Mistake(
            "typ in small letters", says: "jwt", "JWT", "Case matters",
            by: inbox {
                "Bearer " + (try Forged.customer(header: #"{"alg":"HS256","typ":"jwt","kid":"privkey-demo-1"}"#))
            }),
    ]

    private static let credentials: [Mistake] = [
        Mistake(
            "a public key as Bearer", says: "public key of project demo-project-1", "Token KEY",
            by: inbox { "Bearer pubkey-demo-1" }),
        Mistake(
            "a secret as Bearer",
            says: "the secret of the private key of project demo-project-1 privkey-demo-1", "never sent",
            hides: [Example.secret],
            by: inbox { "Bearer " + Example.secret }),
        Mistake(
            "a JWT as Token", says: "a JWT, which is sent as Bearer JWT", hides: [Example.jwtAna],
            by: inbox { "Token " + Example.jwtAna }),
        Mistake(
            "a private key's id as Token", says: "the id of the private key of project demo-project-1",
            by: inbox { "Token privkey-demo-1" }),
        Mistake("a public key in Basic", says: "private key of demo-project-1", "a public key of demo-project-1") {
            let pair = Base64URL.encode(Array("pubkey-demo-1:x".utf8))
            return try await $0.call(
                .post, Example.events, [("authorization", "Basic " + pair)],
                Example.body(Example.ana, #""event_type":"x""#))
        },
        basic(
            "Basic with a forgotten encoding", "privkey-demo-1:" + Example.secret,
            says: "ID:SECRET that is not in base64"),
        basic(
            "Basic with half an encoding", "privkey-demo-1:" + Base64URL.encode(Array(Example.secret.utf8)),
            says: "base64 of a part of ID:SECRET"),
        basic(
            "id and secret swapped in Basic", Base64URL.encode(Array((Example.secret + ":privkey-demo-1").utf8)),
            says: "found the secret of the private key of project demo-project-1"),
        basic(
            "a line break behind the secret", Base64URL.encode(Array("privkey-demo-1:\(Example.secret)\n".utf8)),
            says: "differs from the secret of private key privkey-demo-1. Only blanks or quotes differ"),
        Mistake(
            "the pair as Token", says: "ID:SECRET in base64, which is sent as Basic",
            by: inbox { "Token " + Base64URL.encode(Array("privkey-demo-1:x".utf8)) }),
        Mistake("Token twice", says: "Token before it twice", by: inbox { "Token Token pubkey-demo-1" }),
        Mistake("a stream in the path of a project", says: "demo-stream-1", "id of a stream", "stream_id=") {
            try await $0.call(.post, "/track/v2/projects/demo-stream-1/customers", .token, Example.body(Example.ana))
        },
        Mistake("a project in the path of a stream", says: "demo-project-1", "token of a project") {
            try await $0.call(
                .post, "/webxp/streams/demo-project-1/appinbox/fetch", .streamBearer, Example.body(Example.ana))
        },
        Mistake("a project that is mistyped", says: "demo-projekt-1", "Did you mean “demo-project-1”?") {
            try await $0.call(.post, "/track/v2/projects/demo-projekt-1/customers", .token, Example.body(Example.ana))
        },
    ]

    private static func basic(_ description: String, _ text: String, says phrase: String) -> Mistake {
        Mistake(description, says: phrase, hides: [Example.secret]) {
            try await $0.call(
                .post, Example.events, [("authorization", "Basic " + text)],
                Example.body(Example.ana, #""event_type":"x""#))
        }
    }

    private static func track(_ body: String) -> World.Send {
        { try await $0.call(.post, Example.events, .token, body) }
    }

    private static let bodies: [Mistake] = [
        Mistake("an id that looks the same", says: "zo\\u00e9", "zoe\\u0301") {
            let token = try Forged.customer(claims: "{\"sub\":{\"registered\":\"zo\u{E9}\"},\"exp\":1800003600}")
            return try await $0.call(
                .post, Example.inbox, .bearer(token), Example.body("{\"registered\":\"zoe\u{301}\"}"))
        },
        Mistake(
            "an empty event_type", says: "event_type is empty",
            by: track(Example.body(Example.ana, #""event_type":"""#))),
        Mistake(
            "ids that name nobody", says: #"customer_ids is {"registered":""}"#,
            by: track(Example.body(#"{"registered":""}"#, #""event_type":"x""#))),
        Mistake(
            "ids of a wrong type", says: "customer_ids: registered is a JSON number, not a string",
            by: track(Example.body(#"{"registered":1}"#, #""event_type":"x""#))),
        Mistake(
            "ids that are no object", says: "customer_ids: a JSON array, not an object",
            by: track(Example.body("[]", #""event_type":"x""#))),
        Mistake(
            "ids twice", says: "customer_ids: the name registered occurs twice",
            by: track(Example.body(#"{"registered":"a","registered":"b"}"#, #""event_type":"x""#))),
        Mistake(
            "a timestamp in milliseconds", says: "looks like milliseconds", "2027-01-15T08:00:00Z",
            by: track(Example.body(Example.ana, #""event_type":"x","timestamp":1800000000000"#))),
        Mistake("a list of something else", says: "message_ids[1] is a JSON number, not a string") {
            try await $0.call(
                .post, Example.markAsRead, .token,
                Example.body(Example.ana, #""message_ids":["a",1],"sync_token":"v1.1.1.2""#))
        },
        Mistake("a null", says: "sync_token is null") {
            try await $0.call(
                .post, Example.markAsRead, .token,
                Example.body(Example.ana, #""message_ids":["a"],"sync_token":null"#))
        },
        Mistake("an empty body", says: "the body is empty, not a JSON object", by: track("")),
    ]

    @Test("names the cause, both sides, and no secret", arguments: signatures + credentials + bodies)
    func reason(_ mistake: Mistake) async throws { try await mistake.check(in: World()) }

    @Test("an exp in milliseconds that passes leaves a note")
    func milliseconds() async throws {
        let token = try Forged.customer(claims: #"{"sub":{"registered":"ana@example.test"},"exp":1800003600000}"#)
        let answer = try await World().call(.post, Example.inbox, .bearer(token), Example.body(Example.ana))
        answer.expect(200)
        expect(answer.outcome(of: "milliseconds-exp"), is: .noted)
    }

    @Test("a tracked time that looks like milliseconds and passes leaves a note")
    func trackedMilliseconds() async throws {
        let body = Example.body(Example.ana, #""event_type":"x","timestamp":180000000000"#)
        let answer = try await World().call(.post, Example.events, .token, body)
        answer.expect(200)
        expect(answer.outcome(of: "milliseconds-timestamp"), is: .noted)
    }
}
