import Emulation
import JSON
import Wire

/// Reading and replacing a vendor's state in a sandbox.
extension ControlAPI {
    /// Up to this size a loop may read a state itself: it takes a few milliseconds.
    private static let quickLimit = 64 << 10

    @Sendable static func exportState(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let index = try call.vendor(call.parameters["vendor"])
        // Off the event loop: a state may have tens of thousands of records.
        return .deferred { await call.emulator.readings.run { export(index, call) } }
    }

    private static func export(_ index: Int, _ call: ControlCall) -> Response {
        .json(call.sandbox.vendor(index).export(.whole) ?? [:])
    }

    /// Replaces the state once all of it was read and validated.
    @Sendable static func importState(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let index = try call.vendor(call.parameters["vendor"])
        if call.request.body.count <= quickLimit { return .ready(replaceState(index, call)) }
        guard call.emulator.imports.count < mostWaiting else {
            throw ControlProblem(
                .tooManyRequests, "too-many-imports",
                "\(mostWaiting) states wait to be read, one at a time; send this one once they are answered.")
        }
        return .deferred { await call.emulator.imports.run { replaceState(index, call) } }
    }

    /// ours: each waiting import holds its content.
    private static let mostWaiting = 16

    private static func replaceState(_ index: Int, _ call: ControlCall) -> Response {
        do throws(ControlProblem) {
            try readState(index, call)()
            return export(index, call)
        } catch {
            return error.response
        }
    }

    /// Reads a state; the returned closure puts it in force.
    private static func readState(_ index: Int, _ call: ControlCall) throws(ControlProblem) -> @Sendable () -> Void {
        let state = JSON.object(try call.object(maximumDepth: Emulator.stateDepth))
        return try call.read(state) { (node) throws(FixtureProblem) in
            try call.sandbox.vendor(index).read(node, .whole)
        }
    }
}
