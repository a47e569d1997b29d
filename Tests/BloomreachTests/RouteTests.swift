import Emulation
import Expectations
import HTTPTypes
import JSON
import Support
import Testing

@Suite("Bloomreach's routes") struct RouteTests {
    @Test("the paths of streams are observed, whatever is documented of those of projects, but for batches")
    func evidence() async throws {
        let bloomreach = try #require(try await World().emulator.vendors.first { $0.identity.id == "bloomreach" })
        for route in bloomreach.routes {
            for endpoint in route.endpoints
            where endpoint.pattern.contains("/streams/") || endpoint.pattern.hasPrefix("/track/u/") {
                let evidence: Evidence = route.id == "track.batch" ? .documented : .observed
                expect(route.evidence(of: endpoint), is: evidence, "\(route.id) at \(endpoint)")
            }
        }
        let documented = bloomreach.routes.flatMap { route in
            route.endpoints.filter { route.evidence(of: $0) == .documented }.map { _ in route.id }
        }
        expect(
            documented,
            is: [
                "track.customers", "track.events", "track.clicks", "track.batch", "track.batch", "selfcheck.send",
                "data.attributes",
                "appinbox.fetch", "appinbox.markasread", "inapp.messages", "consents.list",
            ])
    }

    @Test(
        "what is not emulated is not found below any prefix, and an empty segment is none of the paths",
        arguments: [
            "/track/v3/x", "/data/v2/projects/demo-project-1/catalogs", "/webxp", "/wxstatic/x", "/campaigns/x",
            "/data/v2/projects/demo-project-1/analyses/funnel", "/optimization/projects/x/recommend/user",
            "/track//v2/projects/demo-project-1/customers", "/track/v2/projects/demo-project-1/customers/",
            "/webxp/projects//appinbox/fetch",
        ])
    func notEmulated(_ path: String) async throws {
        let world = try await World()
        for method in [HTTPRequest.Method.get, .post] {
            try await world.call(method, path, .token).expect(404, Example.notFound, "unknown-route")
        }
    }

    @Test(
        "where Bloomreach has something that is not emulated, the journal says so, and nothing is near",
        arguments: [
            ("/bulk", "/bulk"), ("/crm/events", "/crm/events"), ("/email/v2/projects/p/sync", "/email/v2"),
            ("/data/v2/projects/p/catalogs/c/items", "/data/v2/projects/{project}/catalogs"),
            ("/data/v2/projects/p/analyses/report", "/data/v2/projects/{project}/analyses"),
            ("/data/v2/projects/p/imports/i/start", "/data/v2/projects/{project}/imports"),
            ("/data/v2/projects/p/customers/anonymize_bulk", "/data/v2/projects/{project}/customers/anonymize_bulk"),
            ("/webxp/projects/p/bundle", "/webxp/projects/{project}/bundle"),
            ("/webxp/streams/s/script/x", "/webxp/streams/{stream}/script"),
            ("/campaigns/banners/show", "/campaigns/banners/show"),
        ])
    func elsewhere(_ path: String, _ prefix: String) async throws {
        let answer = try await World().call(.post, path, .token)
        answer.expect(404, Example.notFound, "unknown-route")
        expect(
            answer.entry?.explanation,
            is: "\(prefix) belongs to a part of Bloomreach that is not emulated; expected a path that "
                + "“understudy routes” lists")
    }

    @Test("queries that nobody knows, a key in the query beside the header, and the case of a scheme do not matter")
    func tolerance() async throws {
        let world = try await World()
        let body = Example.body(Example.ana, #""event_type":"view""#)
        try await world.call(.post, Example.events + "?x=1", .token, body).expect(200)
        try await world.call(.post, Example.events, .authorization("tOKEN   pubkey-demo-1 "), body).expect(200)
        // If a header is present, the query is ignored.
        try await world.call(
            .post, Example.events + "?access_token=pubkey-demo-1", .authorization("Token nope"), body
        ).expect(401, Example.error("access key not found"), "unknown-key")
    }

    @Test("each answer has an id of its own, the same again with the same seed") func requestIDs() async throws {
        var ids: [[String?]] = []
        for _ in 0..<2 {
            let world = try await World()
            try await world.set(seed: 7)
            let found = try await world.call(.get, Example.project + "/system/time", .token)
            let missing = try await world.call(.get, "/webxp/nothing", .token)
            ids.append([found["x-request-id"], missing["x-request-id"]])
        }
        expect(ids[0], is: ids[1])
        #expect(ids[0][0] != nil && ids[0][0] != ids[0][1])
    }

    @Test("a cookie of a path is compared as it is, decoded once") func cookies() async throws {
        let world = try await World()
        let path = "/webxp/projects/demo-project-1/cookies/A%2525%20b/link-ids"
        try await world.call(.post, path, .token, #"{"external_ids":{"registered":"x"}}"#).expect(200, Example.done)
        expect(try await world.customer(#"{"cookie":"A%25 b"}"#).json["ids"], is: ["registered": "x"])
        #expect(try await world.customer(#"{"cookie":"a%25 b"}"#).status != 200)
    }

    @Test("the self-check takes the id of a stream as project_id, as the vendor's pages print it")
    func selfCheckOfStream() async throws {
        let world = try await World()
        let path = "/campaigns/send-self-check-notification?project_id=demo-stream-1"
        let body = Example.body(Example.ana, #""platform":"ios","push_notification_id":"t""#)
        try await world.call(.post, path, [], body).expect(200, Example.done)
        try await world.call(.post, path, .token, body).expect(401, Example.notAccepted, "credential-not-accepted")
    }
}

@Suite("Bloomreach's switches") struct SwitchTests {
    @Test("pages of any origin may read every answer with switch cors, and no other one") func cors() async throws {
        let world = try await World()
        func origin(_ method: HTTPRequest.Method, _ path: String, _ fields: World.Fields) async throws -> String? {
            try await world.call(method, path, fields, "{}")["access-control-allow-origin"]
        }
        expect(try await origin(.post, Example.events, SwitchCase.origin), is: nil)
        try await world.set("bloomreach.cors", "on")
        expect(try await origin(.post, Example.events, []), is: nil, "only browsers name an origin")
        for path in [Example.events, SwitchCase.consents, "/track/none", "/webxp"] {
            for method in [HTTPRequest.Method.get, .post, .options] {
                expect(try await origin(method, path, SwitchCase.origin), is: "*", "\(method) \(path)")
            }
        }
        let asked = try await world.call(.options, Example.events, SwitchCase.origin)
        asked.expect(204, "")
        expect(asked["access-control-allow-methods"], is: "GET, POST, OPTIONS")
        expect(asked["access-control-allow-headers"]?.contains("authorization"), is: true)
        expect(try await world.call(.options, Example.events).failure, is: "method-not-allowed")
    }
}

@Suite("Bloomreach's minted tokens") struct MintingTests {
    @Test("what the example world holds is minted byte for byte") func exampleWorld() async throws {
        let world = try await World()
        expect(try await world.mint("bloomreach/customer-token"), is: Example.jwtAna)
        expect(try await world.mint("bloomreach/customer-token", ["expires_in": -1000]), is: Example.jwtAnaOld)
        expect(try await world.mint("bloomreach/stream-token"), is: Example.jwtStream)
        expect(
            try await world.mint(
                "bloomreach/customer-token",
                ["project": "demo-project-1", "key": "privkey-demo-1", "customer": "ana@example.test"]),
            is: Example.jwtAna)
    }

    @Test("header and claims can be set freely") func claims() async throws {
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

    @Test("a token explains itself without its request") func explanation() async throws {
        let world = try await World()
        func verdict(_ token: String, _ request: JSON = [:]) async throws -> JSON? {
            let order: JSON = ["token": .string(token), "request": request]
            let answer = try await world.control(.post, "tokens/explain", order.text)
            return answer.json["verdicts"]?.array?.first { $0["vendor"] == "bloomreach" }
        }
        let ana = try await verdict(Example.jwtAna)
        expect(ana?["accepted"], is: true)
        expect(ana?["kind"], is: "customer-token")
        expect(ana?["account"], is: "project demo-project-1, key privkey-demo-1")
        let old = try await verdict(Example.jwtAnaOld)
        expect(old?["failure"], is: "customer-token-expired")
        expect(old?["answer"]?["body"]?["token_expired"], is: true)
        let stream = try await verdict(Example.jwtStream)
        expect(stream?["kind"], is: "stream-token")
        expect(stream?["account"], is: "stream demo-stream-1, key signkey-demo-1")
        let elsewhere = try await verdict(Example.jwtStream, ["stream": "demo-stream-2"])
        expect(elsewhere?["failure"], is: "stream-token-wrong-stream")
        let foreign = try await verdict(Example.jwtAna, ["project": "demo-project-2"])
        expect(foreign?["failure"], is: "customer-token-unknown-key")
        expect(try await verdict("no token")?["failure"], is: "customer-token-malformed")
    }

    @Test(
        "a sub that is not a map of ids",
        arguments: [
            "{}", #"{"registered":""}"#, #"{"registered":7}"#, "[]",
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
