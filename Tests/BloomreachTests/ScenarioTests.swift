import HTTPTypes
import JSON
import Support
import Testing
import Tokens

/// The shipped scenarios, each played as an app would experience it.
@Suite("Bloomreach's scenarios")
struct ScenarioTests {
    private typealias Content = ContentExample

    private func world(_ scenario: String, _ depth: Depth) async throws -> World {
        let world = try await World(depth)
        let answer = try await world.control(.put, "scenarios", #"{"scenario":"bloomreach-\#(scenario)"}"#)
        #expect(answer.status == 200, "\(answer.text)")
        return world
    }

    /// An app with advanced authorization that requests a new token from its backend when its own is refused.
    struct App {
        let world: World
        var token: String
        var renewals = 0

        init(_ world: World) async throws {
            self.world = world
            token = try await Self.signIn(world)
        }

        static func signIn(_ world: World) async throws -> String {
            let answer = try await world.call(
                .post, "/webxp/exampleapp/customertokens", [],
                #"{"project_id":"demo-project-1","kid":"privkey-demo-1","sub":{"registered":"ana@example.test"},"#
                    + #""exp":\#(World.exampleMoment + 600)}"#)
            let token = try #require(answer.json["customer_token"]?.string)
            #expect(answer.json["expire_time"] == CompactToken(token).claims?["exp"])
            return token
        }

        mutating func fetch() async throws -> ReceivedAnswer {
            let first = try await send()
            guard first.status == 401, first.json["token_expired"] == true else { return first }
            renewals += 1
            token = try await Self.signIn(world)
            return try await send()
        }

        func send() async throws -> ReceivedAnswer {
            try await world.call(
                .post, Example.inbox, [("authorization", "Bearer " + token)], Content.ofAna())
        }
    }

    @Test("a customer token expires, and an app that asks for another one goes on", arguments: Depth.allCases)
    func renewal(_ depth: Depth) async throws {
        let world = try await world("customer-token-expires", depth)
        var app = try await App(world)
        for _ in 1...3 { try await app.fetch().expect(200, Content.anasInbox) }
        #expect(app.renewals == 1)
        let entries = world.sandbox.journal.entries()
        let fetches = entries.filter { $0.record.route == "appinbox.fetch" }
        #expect(fetches.map(\.response.status.code) == [200, 401, 200, 200])
        #expect(fetches[1].record.failure == "customer-token-expired")
        #expect(
            fetches[1].explanation
                == "scenario bloomreach-customer-token-expires in fresh at call 2, to expired: "
                + "fail customer-token-expired; waits for a call of appinbox.* with a newer token")
    }

    @Test("an app that repeats with the same token is refused again", arguments: Depth.allCases)
    func noRenewal(_ depth: Depth) async throws {
        let app = try await App(try await world("customer-token-expires", depth))
        try await app.send().expect(200)
        for _ in 1...2 {
            try await app.send().expect(
                401,
                #"{"success":false,"error":"token has invalid claims: token is expired","token_expired":true}"#,
                "customer-token-expired")
        }
    }

    @Test("an app without customer tokens notices nothing of that", arguments: Depth.allCases)
    func publicKey(_ depth: Depth) async throws {
        let world = try await world("customer-token-expires", depth)
        for _ in 1...3 { try await world.fetchInbox().expect(200, Content.anasInbox) }
    }

    @Test("an inbox is empty, then a message arrives", arguments: Depth.allCases)
    func arrival(_ depth: Depth) async throws {
        let world = try await world("inbox-message-arrives", depth)
        let empty = try await world.fetchInbox()
        empty.expect(200, #"{"success":true,"messages":[],"sync_token":"v1.1.2.2"}"#)
        let delta = try await world.fetchInbox(#""sync_token":"v1.1.2.2""#)
        delta.expect(
            200,
            #"{"success":true,"messages":[{"id":"msg-arrived","type":"push","is_read":false,"#
                + #""create_time":1800000000,"expire_time":1802592000,"content":{"title":"It is here","#
                + #""message":"Your parcel has arrived","action":"app"}}],"sync_token":"v1.1.2.3"}"#)
        try await world.fetchInbox(#""sync_token":"v1.1.2.3""#)
            .expect(200, #"{"success":true,"messages":[],"sync_token":"v1.1.2.3"}"#)
    }

    @Test("a sync token becomes stale, and an app that fetches anew goes on", arguments: Depth.allCases)
    func staleToken(_ depth: Depth) async throws {
        let world = try await world("sync-token-stale", depth)
        try await world.fetchInbox().expect(200, Content.anasInbox)
        let stale = try await world.fetchInbox(#""sync_token":"v1.1.1.2""#)
        stale.expect(410, Content.staleToken, "sync-token-stale")
        #expect(
            stale.entry?.record.intervention
                == "scenario bloomreach-sync-token-stale in complete at call 2, to incomplete: do delete-inbox-message")
        let fresh = try await world.fetchInbox()
        #expect(fresh.messageIDs == ["msg-push-1"])
        #expect(fresh.json["sync_token"] == "v1.1.2.2")
    }

    @Test("tracking answers 503 three times, then all that was kept arrives", arguments: Depth.allCases)
    func recovery(_ depth: Depth) async throws {
        let world = try await world("tracking-recovers", depth)
        let events = "/track/v2/projects/demo-project-1/customers/events"
        var statuses: [Int] = []
        // An SDK's queue: an event answered with 5xx stays first.
        var queue = ["view", "purchase"]
        for _ in 1...5 {
            guard let event = queue.first else { break }
            let answer = try await world.call(
                .post, events, .token, Content.ofAna(#""event_type":"\#(event)""#))
            statuses.append(answer.status)
            if answer.status == 503 {
                answer.expect(503, "Service Unavailable", "service-unavailable")
            } else {
                queue.removeFirst()
            }
        }
        #expect(statuses == [503, 503, 503, 200, 200])
        let stored = try await world.call(
            .post, "/data/v2/projects/demo-project-1/customers/events", .basic,
            Content.ofAna(#""event_types":["view","purchase"]"#))
        #expect(stored.json["data"]?.array?.map { $0["type"] } == ["view", "purchase"])
        #expect(try await world.fetchInbox().status == 200, "only tracking is down")
    }
}

extension ScenarioPlay {
    private static func fetch(_ world: World, _ token: String) async throws -> ReceivedAnswer {
        let fields = token.isEmpty ? World.Fields.token : .bearer(token)
        return try await world.call(.post, Example.inbox, fields, ContentExample.ofAna())
    }

    static let all = [
        ScenarioPlay("bloomreach-customer-token-expires", calls: 6, signIn: ScenarioTests.App.signIn, call: fetch),
        ScenarioPlay("bloomreach-inbox-message-arrives", call: fetch),
        ScenarioPlay("bloomreach-sync-token-stale", call: fetch),
        ScenarioPlay("bloomreach-tracking-recovers") { world, _ in
            try await world.call(
                .post, "/track/v2/projects/demo-project-1/customers/events", .token,
                ContentExample.ofAna(#""event_type":"view""#))
        },
    ]
}
