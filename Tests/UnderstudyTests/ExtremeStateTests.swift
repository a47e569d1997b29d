import Emulation
import JSON
import Support
import Testing
import Understudy

/// Imported numbers at the limits of the allowed range.
@Suite("Extreme numbers of a state")
struct ExtremeStateTests {
    private static let space = "b1f0c3d2-5a47-4c1e-9d88-0e6a7f2b4c15"

    /// Expects that the state the calls produced can be exported and read again.
    private func expectRestart(of world: World, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let exported = world.emulator.exportState()
        let other = try Emulator(fixtures: Repository.fixtures)
        let restored = try other.restoreState(exported, from: "file")
        #expect(restored.setAside.map(\.description) == [], sourceLocation: sourceLocation)
        #expect(other.exportState()["sandboxes"] == exported["sandboxes"], sourceLocation: sourceLocation)
    }

    private func world() async throws -> World {
        try await World(on: Stage(Emulator(fixtures: Repository.fixtures)))
    }

    @Test("users of IMS go on with the smallest free number")
    func imsUsers() async throws {
        let world = try await world()
        var state = try await world.control(.get, "state/ims").json.object ?? [:]
        state["last_user"] = 1_000_000_000
        state["last_invitation"] = 1_000_000_000
        #expect(try await world.control(.put, "state/ims", JSON.object(state).text).status == 200)
        let answer = try await world.call(
            .post, "/ims/v1/users", [("x-ims-operator-key", "ims-operator-test-key")],
            #"{"tenant":"demo","email":"late@example.test"}"#)
        #expect(answer.status == 201)
        let taken = state["users"]?.array?.compactMap { $0["id"]?.string } ?? []
        let free = (1...100).map { "usr-\($0)" }.first { !taken.contains($0) }
        #expect(answer.json["id"]?.string == free, "\(answer.text)")
        try expectRestart(of: world)
    }

    @Test("users of RUA go on with the smallest free id")
    func ruaUsers() async throws {
        let world = try await world()
        var state = try await world.control(.get, "state/rezolve").json.object ?? [:]
        state["last_user_id"] = 2_000_000_000
        #expect(try await world.control(.put, "state/rezolve", JSON.object(state).text).status == 200)
        for name in ["a", "b"] {
            let answer = try await world.call(
                .post, "/v2/credentials/register",
                [("x-rezolve-partner-apikey", "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6")],
                #"{"username":"\#(name)@example.test","password":"qa-pass-1","email":"\#(name)@example.test"}"#)
            #expect(answer.status == 201, "\(answer.text)")
        }
        try expectRestart(of: world)
    }

    @Test("customers and events of Bloomreach go on")
    func customers() async throws {
        let world = try await world()
        let state =
            #"{"projects":[{"token":"demo-project-1","customers":[],"last_number":4503599627370496,"#
            + #""last_sequence":4503599627370496}]}"#
        #expect(try await world.control(.put, "state/bloomreach", state).status == 200)
        for name in ["a", "b"] {
            let answer = try await world.call(
                .post, "/track/v2/projects/demo-project-1/customers/events", [("authorization", "Token pubkey-demo-1")],
                #"{"customer_ids":{"cookie":"\#(name)"},"event_type":"x","properties":{}}"#)
            #expect(answer.status == 200, "\(answer.text)")
        }
        try expectRestart(of: world)
    }

    @Test("profiles, conversations and logs of Comapi go on, or say that they are full")
    func comapi() async throws {
        let world = try await world()
        let state =
            #"{"spaces":[{"id":"\#(Self.space)","profiles":[{"id":"mira","created":1,"revision":4503599627370496}],"#
            + #""conversations":[{"id":"talk","creator":"mira","created":1,"revision":4503599627370496,"#
            + #""participants":[{"id":"mira","role":"owner"}],"last_event":1099511627776}]}]}"#
        #expect(try await world.control(.put, "state/comapi", state).status == 200)
        let fields = [("authorization", "Bearer " + (try await world.mint("comapi/session")))]
        let path = "/apispaces/\(Self.space)"
        let profile = try await world.call(.patch, path + "/profiles/mira", fields, #"{"firstName":"Mira"}"#)
        #expect(profile.status == 200, "\(profile.text)")
        let renamed = try await world.call(
            .put, path + "/conversations/talk", fields, #"{"id":"talk","name":"Other"}"#)
        #expect(renamed.status == 200, "\(renamed.text)")
        let message = try await world.call(
            .post, path + "/conversations/talk/messages", fields,
            #"{"metadata":{},"parts":[{"name":"t","type":"text/plain","data":"hi"}]}"#)
        #expect(message.status == 413)
        #expect(message.failure == "body-too-large")
        #expect(message.entry?.record.reason == "the events of the conversation have come to the largest number")
        try expectRestart(of: world)
    }

    @Test("an inbox and the keys of an issuer go on")
    func inbox() async throws {
        let world = try await world()
        var state = try await world.control(.get, "state/bloomreach").text
        state = state.replacing(#""counter":2"#, with: #""counter":1000000000"#)
            .replacing(#""epoch":1"#, with: #""epoch":1000000000"#)
        #expect(try await world.control(.put, "state/bloomreach", state).status == 200)
        let action = try await world.control(
            .post, "state/bloomreach/clear-inbox",
            #"{"project":"demo-project-1","customer":{"registered":"ana@example.test"}}"#)
        #expect(action.status == 200, "\(action.text)")
        #expect(try await world.control(.post, "keys/ims/rotating/break").status < 300)
        var keys = try await world.control(.get, "state/ims").text
        keys = keys.replacing(#""fetches":0"#, with: #""fetches":4503599627370496"#)
        #expect(try await world.control(.put, "state/ims", keys).status == 200)
        #expect(try await world.call(.get, "/ims/dev-issuers/rotating/jwks.json").status >= 200)
        try expectRestart(of: world)
    }
}
