import Emulation
import JSON
import Support
import Testing
import Understudy

/// What is kept of a vendor in a sandbox is bounded once, for all vendors.
@Suite("Full states")
struct FullStateTests {
    private static let reason =
        "the sandbox keeps 100000 records of 0 bytes of Switchboard; expected fewer than 100000 of 268435456 before "
        + "anything is added"

    @Test("a call that adds to a full state is undone and refused, and others are answered", arguments: Depth.allCases)
    func call(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        for session in ["heavy-1", "heavy-2"] {
            #expect(try await board.world.call(.post, "/switchboard/sessions/\(session)").status == 204)
        }
        let refused = try await board.world.call(.post, "/switchboard/sessions/heavy-3")
        refused.expect(404, #"{"code":"nothing-here"}"#, "nothing-here")
        #expect(refused.entry?.record.reason == Self.reason)
        #expect(try await board.state()["sessions"] == ["heavy-1", "heavy-2"])
        #expect(try await board.world.call(.post, "/switchboard/sessions/heavy-1?life=1").status == 204)
        #expect(try await board.world.call(.post, "/switchboard/count").status == 200)
        _ = try await board.world.control(.post, "state/switchboard/forget")
        #expect(try await board.world.call(.post, "/switchboard/sessions/heavy-3").status == 204)
    }

    @Test("an action that adds to a full state is undone and refused")
    func action() async throws {
        let board = try await SwitchboardWorld(.pipeline)
        for session in ["heavy-1", "heavy-2"] {
            #expect(try await board.world.call(.post, "/switchboard/sessions/\(session)").status == 204)
        }
        let refused = try await board.world.control(.post, "state/switchboard/begin")
        #expect(refused.status == 400)
        #expect(refused.json["error"]?["message"]?.string == Self.reason, "\(refused.text)")
        #expect(try await board.state()["sessions"] == ["heavy-1", "heavy-2"])
    }
}
