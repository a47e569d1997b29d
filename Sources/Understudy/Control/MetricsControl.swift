import HTTPTypes
import JSON
import Wire

/// The server's metrics.
extension ControlAPI {
    static let metricsOperations: [ControlOperation] = [
        ControlOperation(
            "metrics", .get, "/metrics",
            "Counts of all sandboxes since the start, as Prometheus reads them; no reset clears them.",
            gives: ControlOperation.Outcome(
                .ok, "Text in the exposition format 0.0.4.", ["type": "string"], mediaType: "text/plain"),
            handler: readMetrics)
    ]

    @Sendable static func readMetrics(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let text = call.emulator.metricsText(calls: call.operations.map(\.id))
        return .ready(
            Response(status: .ok, fields: [.contentType: MetricsText.mediaType], body: Array(text.utf8)))
    }
}
