import Emulation
import HTTPTypes
import JSON
import Wire

extension HTTPField.Name {
    static let replica = Self("X-Understudy-Replica") ?? .from
}

/// The probes of supervisors and proxies.
extension ControlAPI {
    @Sendable static func readHealth(_ call: ControlCall) throws(ControlProblem) -> Answer {
        .ready(call.emulator.reloads.health { call.emulator.sandboxes.standard.redactor })
    }

    @Sendable static func readLiveness(_ call: ControlCall) throws(ControlProblem) -> Answer {
        .ready(.json(["status": "ok"]))
    }

    @Sendable static func readReadiness(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let reason = call.emulator.reasonToStayAway
        return .ready(
            .json(
                [
                    "ready": .bool(reason == nil), "replica": JSON(call.emulator.replica),
                    "reason": JSON(reason),
                ], status: reason == nil ? .ok : .serviceUnavailable))
    }
}
