import Emulation
import HTTPTypes
import JSON
import Wire

extension HTTPField.Name {
    static let replica = Self("X-Understudy-Replica") ?? .from
}

/// The probes of supervisors and proxies.
extension ControlAPI {
    static let readinessOperations: [ControlOperation] = [
        ControlOperation(
            "health.live", .get, "/health/live",
            "That the process runs; a supervisor restarts one that does not answer.",
            gives: .json("The process runs.", .liveness)
        ) { (_) throws(ControlProblem) in .ready(.json(["status": "ok"])) },
        ControlOperation(
            "health.ready", .get, "/health/ready",
            "Whether a proxy should send requests here: not while the server stops, nor while it cannot show those that share its store that it is alive.",
            gives: .json("The server takes requests.", .readiness),
            ControlOperation.Outcome(
                .serviceUnavailable, "The server takes no new requests now.", NamedSchema.readiness.reference),
            handler: readReadiness),
    ]

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

// Readiness.
extension NamedSchema {
    static let probes = [liveness, readiness]

    static let liveness = NamedSchema(
        "Liveness", Schema.answer("That the process runs.", ["status": Schema.string("“ok”.")]))

    static let readiness = NamedSchema(
        "Readiness",
        Schema.answer(
            "Whether the server takes requests.",
            [
                "ready": Schema.boolean("Whether it does."),
                "replica": Schema.nullable(Schema.string("The replica's name; null for a server alone.")),
                "reason": Schema.nullable(Schema.string("Why it does not; null when it does.")),
            ]))
}
