import HTTPTypes
import JSON
import Wire

/// The server's metrics.
extension ControlAPI {
    @Sendable static func readMetrics(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let text = call.emulator.metricsText(calls: operations.map(\.id))
        return .ready(
            Response(status: .ok, fields: [.contentType: MetricsText.mediaType], body: Array(text.utf8)))
    }
}
