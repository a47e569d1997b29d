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

    @Test("sandboxes of a hundred thousand customers take no other one, and change those whom they have")
    func bloomreach() async throws {
        let world = try await World(on: Stage(Emulator(fixtures: Repository.fixtures)))
        let customers = (1...StateSize.most.records).map { #"{"number":\#($0),"ids":{"registered":"c\#($0)"}}"# }
        let state = #"{"projects":[{"token":"demo-project-1","customers":[\#(customers.joined(separator: ","))]}]}"#
        #expect(try await world.control(.put, "state/bloomreach", state).status == 200)
        func update(_ id: String) async throws -> ReceivedAnswer {
            try await world.call(
                .post, "/track/v2/projects/demo-project-1/customers", [("authorization", "Token pubkey-demo-1")],
                #"{"customer_ids":{"registered":"\#(id)"},"properties":{}}"#)
        }
        #expect(try await update("c7").status == 200)
        let refused = try await update("new")
        refused.expect(413, #"{"success":false,"error":"Request body too large"}"#, "body-too-large")
        #expect(refused.entry?.record.reason?.hasPrefix("the sandbox keeps 100000 records of ") == true)
        _ = try await world.control(.post, "state/bloomreach/delete-customer", #"{"customer":"c8"}"#)
        #expect(try await update("new").status == 200)
    }
}
