import Emulation
import JSON
import Wire

/// Listing, dropping and resetting sandboxes.
extension ControlAPI {
    static let sandboxOperations: [ControlOperation] = [
        ControlOperation(
            "sandboxes.list", .get, "/sandboxes", "All sandboxes.", gives: .json("The sandboxes.", .sandboxList),
            handler: listSandboxes),
        ControlOperation(
            "sandboxes.delete", .delete, "/sandboxes/{name}",
            "Forgets a sandbox with all it holds; the standard one is reset instead.",
            in: [.init("name", "The sandbox's name.")], gives: .done, handler: deleteSandbox),
        ControlOperation(
            "reset", .post, "/reset", "Makes the sandbox as it was when it came into being.", gives: .done,
            handler: reset),
    ]

    @Sendable static func listSandboxes(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let now = SandboxClock.machine
        let sandboxes = call.emulator.sandboxes.all.map { sandbox -> JSON in
            [
                "name": .string(sandbox.name),
                "age_seconds": JSON(Int(now.unixSeconds - sandbox.created.unixSeconds)),
                "idle_seconds": JSON(Int(now.unixSeconds - sandbox.lastUsed.unixSeconds)),
                "exchanges": JSON(sandbox.exchanges), "journal_entries": JSON(sandbox.journal.count),
                "journal_bytes": JSON(sandbox.journal.bytes),
            ]
        }
        return .ready(.json(["sandboxes": .array(sandboxes)]))
    }

    @Sendable static func deleteSandbox(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let name = call.parameters["name"]
        guard call.emulator.sandboxes.remove(name) else {
            throw ControlProblem(.notFound, "no-such-sandbox", "There is no sandbox \(name).")
        }
        return .ready(.empty())
    }

    @Sendable static func reset(_ call: ControlCall) throws(ControlProblem) -> Answer {
        call.sandbox.reset()
        return .ready(.empty())
    }
}
