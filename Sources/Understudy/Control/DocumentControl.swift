import JSON
import Wire

/// The control API's description of itself.
extension ControlAPI {
    static let documentOperations: [ControlOperation] = [
        ControlOperation(
            "openapi", .get, "/openapi.json", "This description: OpenAPI 3.1.",
            gives: .json("The description.", .description), handler: describe)
    ]

    @Sendable static func describe(_ call: ControlCall) throws(ControlProblem) -> Answer {
        .ready(
            .json(
                ControlDocument(operations: call.operations, asksForToken: call.emulator.controlAccess.token != nil)
                    .json))
    }
}
