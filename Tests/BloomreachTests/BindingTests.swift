import Expectations
import Foundation
import JSON
import Support
import Testing

/// The ids that a token may act for (sections 2.3 and 2.4 of the vendor's spec).
@Suite("Tokens of Bloomreach and the ids of a request") struct BindingTests {
    /// Ids of a request, and whether Ana's token is good for them with exact and with subset.
    private static let cases: [(String, Bool, Bool)] = [
        (Example.ana, true, true),
        (#"{"registered":"ana@example.test"}"#, true, true),
        (#"{"cookie":"other","registered":"ana@example.test"}"#, true, true),
        ("{}", true, true), ("null", true, true),
        (#"{"registered":"ana@example.test","email_id":"x"}"#, false, true),
        (#"{"registered":"ana@example.test","email_id":null}"#, true, true),
        (#"{"registered":"ben@example.test"}"#, false, false),
        (#"{"registered":"Ana@example.test"}"#, false, false),
        (#"{"cookie":"\#(Example.cookieAna)"}"#, false, false),
    ]

    @Test("a customer token belongs to exactly its ids, or to more with switch subset", arguments: cases)
    func customerToken(_ ids: String, _ exact: Bool, _ subset: Bool) async throws {
        let world = try await World()
        for (value, passes) in [("exact", exact), ("subset", subset), ("off", true)] {
            try await world.set("bloomreach.customer-token-binding", value)
            let answer = try await world.call(.post, Example.inbox, .bearer, Example.body(ids))
            expect(answer.failure, is: (passes ? nil : "customer-token-ids-mismatch"), "\(value)")
        }
    }

    @Test("a cookie in the token must be that of the request") func cookieInToken() async throws {
        let world = try await World()
        let token = try Forged.customer(
            claims: #"{"sub":{"registered":"ana@example.test","cookie":"\#(Example.cookieAna)"},"exp":1800003600}"#)
        try await world.call(.post, Example.inbox, .bearer(token), Example.body(Example.ana)).expect(200)
        for ids in [#"{"registered":"ana@example.test"}"#, #"{"registered":"ana@example.test","cookie":"x"}"#] {
            try await world.call(.post, Example.inbox, .bearer(token), Example.body(ids)).expect(
                401, Example.mismatch, "customer-token-ids-mismatch")
        }
    }

    @Test("linked ids are held against the token, since nothing else names the customer")
    func linkedIDs() async throws {
        let world = try await World()
        let path = "/webxp/projects/demo-project-1/cookies/\(Example.cookieGuest)/link-ids"
        try await world.call(.post, path, .bearer, #"{"external_ids":{"registered":"ben@example.test"}}"#).expect(
            401, Example.mismatch, "customer-token-ids-mismatch")
        try await world.call(.post, path, .bearer, #"{"external_ids":{"registered":"ana@example.test","cookie":"x"}}"#)
            .expect(200, Example.done)
        expect(try await world.customer(Example.guest).json["number"], is: 1)
    }

    @Test("an id that needs a token may be used without one in a project, and is not linked without one")
    func signedOnly() async throws {
        let world = try await World()
        try await world.track(#"{"account_id":"a-1"}"#).expect(200)
        try await world.call(
            .post, "/webxp/streams/demo-stream-1/cookies/c/link-ids", [], #"{"external_ids":{"account_id":"a-2"}}"#
        ).expect(403, Example.error("forbidden"), "stream-signature-required")
    }

    @Test(
        "what a stream keeps for signed calls comes with a token, and what it keeps for nobody does not",
        arguments: [
            (Example.streamCustomers, #"{"account_id":"a"}"#, World.Fields.streamBearer, nil),
            (Example.streamEvents, #"{"email_id":"x"},"event_type":"consent_audit""#, .streamBearer, nil),
            (Example.streamEvents, #"{"email_id":"x"},"event_type":"internal_audit""#, [], "stream-permission-denied"),
            (Example.streamCustomers, #"{"email_id":"x"},"properties":{"loyalty_points":1}"#, .streamBearer, nil),
            (
                Example.streamCustomers, #"{"email_id":"x"},"properties":{"internal_score":1}"#, .streamBearer,
                "stream-permission-denied"
            ),
        ] as [(String, String, World.Fields, String?)])
    func kept(_ path: String, _ body: String, _ fields: World.Fields, _ failure: String?) async throws {
        let answer = try await World().call(.post, path, fields, "{\"customer_ids\":\(body)}")
        guard let failure else { return answer.expect(200) }
        answer.expect(403, Example.error("forbidden"), failure)
        expect(answer.entry?.explanation?.contains(" from nobody; "), is: true)
    }

    @Test("* stands for all names that no other rule names, and signed-only means nothing where no token is checked")
    func otherNames() async throws {
        let world = try await World.under(accounts: [
            ("event_types: {", "event_types: { view: allow, \"*\": deny,"),
            ("secret_keys: [\"\(Example.streamKey)\"]", "permissions: { customer_ids: { account_id: signed-only } }"),
        ])
        for (type, failure) in [("view", nil), ("other", "stream-permission-denied")] {
            let body = Example.body(Example.guest, #""event_type":"\#(type)""#)
            expect(try await world.call(.post, Example.streamEvents, [], body).failure, is: failure)
        }
        let body = Example.body(#"{"account_id":"a"}"#, #""event_type":"view""#)
        try await world.call(.post, Example.privateEvents, [], body).expect(200)
    }

    @Test("a private stream takes no other secret, id or credential") func privateStream() async throws {
        let world = try await World()
        func send(_ fields: World.Fields) async throws -> ReceivedAnswer {
            try await world.call(
                .post, Example.privateEvents, fields, Example.body(#"{"account_id":"a"}"#, #""event_type":"view""#))
        }
        func basic(_ id: String, _ secret: String) -> World.Fields {
            .authorization("Basic " + Data("\(id):\(secret)".utf8).base64EncodedString())
        }
        let wrong = try await send(basic("demo-private-stream-1", Example.streamSecret))
        wrong.expect(401, Example.error("access key not found"), "wrong-secret")
        expect(
            wrong.entry?.explanation,
            is: "private-key-secret: found the secret of the signing key of stream demo-stream-1 signkey-demo-1; "
                + "expected a secret key of stream demo-private-stream-1 [ours]")
        let other = try await send(basic("privkey-demo-1", Example.streamKey))
        other.expect(401, Example.error("access key not found"), "unknown-key")
        expect(
            other.entry?.explanation,
            is: "private-key: found another id; expected the id of stream demo-private-stream-1 [ours]")
        try await send(.token).expect(401, Example.notAccepted, "credential-not-accepted")
    }

    @Test("where a stream needs no token, a private key of the project is not taken either")
    func privateKey() async throws {
        let body = Example.body(Example.guest, #""event_type":"view""#)
        try await World().call(.post, Example.streamEvents, .basic, body).expect(
            401, Example.notAccepted, "credential-not-accepted")
    }
}

@Suite("Bloomreach's tokens and the records of others") struct RecordOwnerTests {
    private static let blocks = "inappcontentblocks?v=2"
    private static let asked = #""content_block_ids":["block-2"]"#
    private static let benWithMail = #"{"registered":"ben@example.test","email_id":"b"}"#

    private func greeting(
        _ world: World, _ place: String, _ fields: World.Fields, _ ids: String
    ) async throws -> ReceivedAnswer {
        try await world.call(.post, "/webxp/\(place)/\(Self.blocks)", fields, Example.body(ids, Self.asked))
    }

    private func world() async throws -> World {
        let world = try await World()
        try await world.update(Self.benWithMail, #"{"first_name":"Ben"}"#).expect(200)
        return world
    }

    @Test("a stream's token with somebody's cookie or hard id reads its own customer") func stream() async throws {
        let world = try await world()
        let own = try await greeting(world, "streams/demo-stream-1", .streamBearer, Example.ana)
        own.expect(200)
        let other = try await greeting(
            world, "streams/demo-stream-1", .streamBearer, #"{"cookie":"\#(Example.cookieBen)"}"#)
        other.expect(200, own.text)
        try await greeting(world, "streams/demo-stream-1", .streamBearer, #"{"email_id":"b"}"#).expect(200, own.text)
        try await world.call(
            .get, "/webxp/streams/demo-stream-1/segments?cookie=\(Example.cookieBen)", .streamBearer
        ).expect(401, Example.invalidToken, "stream-token-ids-mismatch")
    }

    @Test("a stream's token writes under ids that do not contradict it, whatever the records say")
    func streamWrites() async throws {
        let world = try await world()
        for ids in [#"{"cookie":"\#(Example.cookieBen)"}"#, #"{"email_id":"b"}"#] {
            try await world.call(
                .post, Example.streamEvents, .streamBearer, Example.body(ids, #""event_type":"view""#)
            ).expect(200)
        }
        expect(try await world.customer(Example.ben).json["events"]?.array?.count, is: 2)
        try await world.call(
            .post, Example.streamEvents, .streamBearer, Example.body(Self.benWithMail, #""event_type":"view""#)
        ).expect(401, Example.invalidToken, "stream-token-ids-mismatch")
        let signedIn = #"{"cookie":"\#(Example.cookieGuest)","registered":"ana@example.test"}"#
        try await world.call(.post, Example.streamCustomers, .streamBearer, Example.body(signedIn)).expect(200)
        expect(try await world.customer(Example.guest).json["number"], is: 1)
    }

    @Test("an unknown hard id beside somebody's cookie is nobody", arguments: ["exact", "subset"])
    func unknownRegistered(_ binding: String) async throws {
        let world = try await world()
        try await world.set("bloomreach.customer-token-binding", binding)
        let token = try Forged.customer(claims: #"{"sub":{"registered":"new@example.test"},"exp":1800003600}"#)
        let nobody = try await greeting(world, "s/demo-project-1", .token, #"{"cookie":"none"}"#)
        let ids = #"{"cookie":"\#(Example.cookieBen)","registered":"new@example.test"}"#
        try await greeting(world, "s/demo-project-1", .bearer(token), ids).expect(200, nobody.text)
    }

    @Test("with switch subset, a hard id of another customer beside the token's opens nothing of that customer's")
    func subset() async throws {
        let world = try await world()
        try await world.set("bloomreach.customer-token-binding", "subset")
        let token = try Forged.customer(claims: #"{"sub":{"email_id":"new"},"exp":1800003600}"#)
        let ids = #"{"registered":"ana@example.test","email_id":"new"}"#
        let nobody = try await greeting(world, "s/demo-project-1", .token, #"{"cookie":"none"}"#)
        try await greeting(world, "s/demo-project-1", .bearer(token), ids).expect(200, nobody.text)
    }

    @Test(
        "a body that names exactly the token's ids passes, whatever the stored record says", arguments: [true, false])
    func exactIDs(_ namesThem: Bool) async throws {
        let world = try await world()
        // Ben's record has a different email_id than the token.
        let sub = #"{"registered":"ben@example.test","email_id":"other"}"#
        let token = try Forged.customer(claims: #"{"sub":\#(sub),"exp":1800003600}"#)
        let inbox = try await world.call(.post, Example.inbox, .bearer(token), namesThem ? Example.body(sub) : "{}")
        inbox.expect(200)
        expect(inbox.json["messages"]?.array?.map { $0["id"] }, is: ["msg-push-2"])
        let own = try await greeting(world, "s/demo-project-1", .token, Self.benWithMail)
        let path = "/webxp/s/demo-project-1/\(Self.blocks)"
        let body = namesThem ? Example.body(sub, Self.asked) : "{\(Self.asked)}"
        try await world.call(.post, path, .bearer(token), body).expect(200, own.text)
    }

    @Test("a token whose ids have no name is one without ids") func nameless() async throws {
        let stream = try Forged.stream(claims: #"{"exp":1800000900,"ids":{"":"x"}}"#)
        try await World().call(.post, Example.streamInbox, .bearer(stream), Example.body(Example.ana)).expect(
            401, Example.invalidToken, "stream-token-empty-ids")
    }
}

/// What a token may and may not contain (sections 2.2 and 2.4 of the vendor's spec).
@Suite("Bloomreach's rules for tokens") struct TokenRuleTests {
    private static func header(_ members: String) -> String { "{\(members)}" }
    private static func exp(_ text: String) -> String { #"{"sub":{"registered":"ana@example.test"},"exp":\#(text)}"# }
    private static func sub(_ text: String) -> String { #"{"sub":\#(text),"exp":1800003600}"# }

    /// Correctly signed headers with Ana's claims, and their failures.
    private static let headers: [(String, String?)] = [
        (Forged.customerHeader, nil),
        (header(#""alg":"HS256","typ":"at+jwt","kid":"privkey-demo-1""#), "wrong-algorithm"),
        (header(#""alg":"hs256","typ":"JWT","kid":"privkey-demo-1""#), "wrong-algorithm"),
        (header(#""alg":"HS256","kid":"privkey-demo-1","crit":["x"],"x":1"#), "wrong-algorithm"),
        (header(#""alg":"HS256","typ":"JWT","kid":7"#), "unknown-key"),
        (header(#""alg":"HS256","kid":"privkey-demo-1","kid":"privkey-demo-1""#), "malformed"), ("[]", "malformed"),
    ]

    /// Correctly signed claims with a good header, and their failures.
    private static let claims: [(String, String?)] = [
        ("7", "malformed"), (exp("1800000000.5"), nil), (exp("1800000000"), "expired"),
        (exp("null"), "missing-expiry"), (exp("1e400"), "missing-expiry"),
        (exp(#"1800003600,"nbf":1800000000"#), nil), (exp(#"1800003600,"nbf":1800000001"#), "not-yet-valid"),
        (exp(#"1800003600,"iss":7,"aud":[],"iat":1900000000"#), nil), (sub(#""ana@example.test""#), "bad-subject"),
        (sub("{}"), "bad-subject"), (sub(#"{"registered":""}"#), "bad-subject"), (sub(#"{"":"x"}"#), "bad-subject"),
        (sub(#"{"registered":null}"#), "bad-subject"), (sub(#"{"registered":["ana@example.test"]}"#), "bad-subject"),
    ]

    private static let cases: [(header: String, claims: String, failure: String?)] =
        headers.map { ($0, Forged.anaClaims, $1) } + claims.map { (Forged.customerHeader, $0, $1) }

    @Test("each member of a customer token", arguments: cases)
    func customerToken(_ example: (header: String, claims: String, failure: String?)) async throws {
        let world = try await World()
        let token = try Forged.customer(header: example.header, claims: example.claims)
        let answer = try await world.call(.post, Example.inbox, .bearer(token), Example.body(Example.ana))
        expect(answer.failure, is: example.failure.map { "customer-token-" + $0 }, "\(answer.findings)")
        expect(answer.status, is: (example.failure == nil ? 200 : 401))
    }

    @Test("a token of one project opens no other") func otherProject() async throws {
        let world = try await World()
        let path = "/webxp/projects/demo-project-2/appinbox/fetch"
        try await world.call(.post, path, .bearer, Example.body(Example.ana)).expect(
            401, Example.invalidToken, "customer-token-unknown-key")
    }

    @Test("a token with several faults is refused for the first in the vendor's order") func order() async throws {
        let world = try await World()
        let body = Example.body(Example.ben)
        let expired = #"{"sub":{},"exp":1}"#
        for (token, failure) in [
            (try Forged.customer(header: Self.header(#""alg":"HS512","kid":"x""#), claims: expired), "wrong-algorithm"),
            (try Forged.customer(header: Self.header(#""alg":"HS256","kid":"x""#), claims: expired), "unknown-key"),
            (try Forged.customer(claims: expired, secret: "x-not-a-secret"), "bad-signature"),
            (try Forged.customer(claims: #"{"sub":{},"nbf":1900000000}"#), "missing-expiry"),
            (try Forged.customer(claims: #"{"sub":{},"exp":1,"nbf":1900000000}"#), "expired"),
            (try Forged.customer(claims: #"{"sub":{},"exp":1900000001,"nbf":1900000000}"#), "not-yet-valid"),
            (try Forged.customer(claims: #"{"sub":{},"exp":1900000001}"#), "bad-subject"),
            (Example.jwtAna, "ids-mismatch"),
        ] {
            let answer = try await world.call(.post, Example.inbox, .bearer(token), body)
            expect(answer.failure, is: "customer-token-" + failure)
        }
    }

    @Test("the leeway counts for both ends of a life") func leeway() async throws {
        let world = try await World()
        try await world.set("bloomreach.clock-leeway-seconds", "5")
        for (claims, failure) in [
            (Self.exp("1799999996"), nil), (Self.exp("1799999995"), "customer-token-expired"),
            (Self.exp(#"1800003600,"nbf":1800000005"#), nil),
            (Self.exp(#"1800003600,"nbf":1800000006"#), "customer-token-not-yet-valid"),
        ] as [(String, String?)] {
            let token = try Forged.customer(claims: claims)
            let answer = try await world.call(.post, Example.inbox, .bearer(token), Example.body(Example.ana))
            expect(answer.failure, is: failure, "\(claims)")
        }
    }
}
