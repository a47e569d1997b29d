import JSON
import Support
import Testing

/// The spec's acceptance examples for attributes, self-check and linked ids.
@Suite("Bloomreach's acceptance examples: data")
struct AcceptanceOfDataTests {
    @Test("11, 12: properties of Ana, and of nobody", arguments: Depth.allCases)
    func attributes(_ depth: Depth) async throws {
        let world = try await World(depth)
        let list = #"{"type":"property","property":"first_name"},{"type":"property","property":"none"}"#
        try await world.call(
            .post, Example.attributes, .token, Example.body(Example.ana, #""attributes":[\#(list)]"#)
        ).expect(
            200, #"{"success":true,"results":[{"success":true,"value":"Ana"},{"success":true,"value":null}]}"#)
        let unknown = Example.body(
            #"{"registered":"no@example.test"}"#, #""attributes":[{"type":"property","property":"first_name"}]"#)
        try await world.call(.post, Example.attributes, .token, unknown).expect(
            404, Example.errors("_global", "Customer does not exist"), "customer-not-found")
    }

    @Test("25: a self-check is taken", arguments: Depth.allCases)
    func selfCheck(_ depth: Depth) async throws {
        let world = try await World(depth)
        let body = Example.body(Example.ana, #""platform":"ios","push_notification_id":"tok""#)
        try await world.call(.post, Example.selfCheck, .token, body).expect(200, Example.done)
        let checks = try await world.control(.get, "state/bloomreach").json["projects"]?[0]?["self_checks"]
        #expect(checks?.array?.count == 1)
        #expect(checks?[0]?["push_notification_id"] == "tok")
    }

    @Test("26: a guest is given a hard id, and has no segments", arguments: Depth.allCases)
    func linkedIDs(_ depth: Depth) async throws {
        let world = try await World(depth)
        let path = "/webxp/projects/demo-project-1/cookies/\(Example.cookieGuest)/link-ids"
        try await world.call(.post, path, .token, #"{"external_ids":{"registered":"new@example.test"}}"#)
            .expect(200, Example.done)
        try await world.call(
            .get, "/webxp/projects/demo-project-1/segments?cookie=\(Example.cookieGuest)", .token
        ).expect(200, "{}")
        let guest = try await world.customer(Example.guest).json
        #expect(guest["number"] == 3)
        #expect(guest["ids"] == ["registered": "new@example.test"])
    }
}
