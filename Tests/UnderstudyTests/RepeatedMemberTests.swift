import Emulation
import JSON
import Support
import Testing
import Understudy

/// Clients may send a name twice without being refused; the file that a restart reads must accept it too.
@Suite("Repeated members survive a restart")
struct RepeatedMemberTests {
    private static let track = "/track/v2/projects/demo-project-1"
    private static let space = "/apispaces/b1f0c3d2-5a47-4c1e-9d88-0e6a7f2b4c15"
    private static let token = [("authorization", "Token pubkey-demo-1")]

    @Test(
        "of Bloomreach's customers, events and clicks",
        arguments: [
            ("/customers", #"{"customer_ids":{"cookie":"c"},"properties":{"o":{"a":1,"a":2}}}"#),
            ("/customers", #"{"customer_ids":{"cookie":"c"},"properties":{"a":1,"a":2}}"#),
            ("/customers/events", #"{"customer_ids":{"cookie":"c"},"event_type":"x","properties":{"a":1,"a":2}}"#),
            (
                "/campaigns/clicks",
                #"{"url":"https://a.example.test/?xnpe_cmp=1","timestamp":1,"properties":{"a":1,"a":2}}"#
            ),
        ])
    func tracked(_ path: String, _ body: String) async throws {
        let world = try await World(on: Stage(Emulator(fixtures: Repository.fixtures)))
        #expect(try await world.call(.post, Self.track + path, Self.token, body).status == 200)
        try await expectRestart(of: world)
    }

    @Test("of Comapi's profiles and messages")
    func comapi() async throws {
        let world = try await World(on: Stage(Emulator(fixtures: Repository.fixtures)))
        let fields = [("authorization", "Bearer " + (try await world.mint("comapi/session")))]
        _ = try await world.call(.get, Self.space + "/profiles/mira", fields)
        let profile = try await world.call(
            .patch, Self.space + "/profiles/mira", fields, #"{"o":{"a":1,"a":2},"p":1,"p":2}"#)
        #expect(profile.status == 200)
        _ = try await world.call(.post, Self.space + "/conversations", fields, #"{"id":"talk","name":"Talk"}"#)
        let message = try await world.call(
            .post, Self.space + "/conversations/talk/messages", fields,
            #"{"metadata":{"a":1,"a":2},"parts":[{"name":"t","type":"text/plain","data":"hi","x":1,"x":2}],"alert":{"platforms":{"fcm":{"a":1,"a":2}}}}"#
        )
        #expect(message.status == 200, "\(message.text)")
        try await expectRestart(of: world)
    }

    @Test("and so do codes that end after the year 9999")
    func lateCode() async throws {
        let world = try await World(on: Stage(Emulator(fixtures: Repository.fixtures)), at: 253_402_295_400)
        let answer = try await world.call(
            .post, "/ims/v1/users", [("x-ims-operator-key", "ims-operator-test-key")],
            #"{"tenant":"demo","email":"late@example.test"}"#)
        #expect(answer.status == 201)
        try await expectRestart(of: world)
    }

    private func expectRestart(of world: World) async throws {
        let text = world.emulator.exportState().prettyText
        let exported = try JSON.parse(Array(text.utf8), maximumDepth: Emulator.documentDepth)
        let other = try Stage(Emulator(fixtures: Repository.fixtures))
        let restored = try other.emulator.restoreState(exported, from: "file")
        #expect(restored.setAside.map(\.description) == [])
        #expect(restored.sandboxes == 1)
        #expect(other.emulator.exportState()["sandboxes"] == exported["sandboxes"])
        for vendor in ["bloomreach", "comapi", "ims"] {
            let state = try await world.control(.get, "state/" + vendor).text
            #expect(try await world.control(.put, "state/" + vendor, state).text == state)
        }
    }
}
