import Emulation
import JSON
import Wire

/// Explaining calls that went to real servers.
extension ControlAPI {
    /// Returns why a real server refused the recorded calls, by the settings of the sandbox.
    @Sendable static func explainCall(_ call: ControlCall) throws(ControlProblem) -> Answer {
        let body = try call.body("recording", "answer", "vendor", "at").object
        guard let recording = body["recording"]?.string else { throw call.invalid("recording must be a string") }
        let sandbox = call.existingSandbox ?? call.emulator.sandboxes.standard
        var explainer = Explainer(call.emulator, sandbox.settings)
        explainer.vendor = try body["vendor"].map { value throws(ControlProblem) in
            try call.vendor(value.string ?? value.text)
        }
        let moment = body["at"].map { Moment($0) } ?? sandbox.now
        guard let moment else {
            throw call.invalid("at is \(body["at"]?.text ?? ""); expected Unix seconds or RFC 3339")
        }
        let answer = try body["answer"].map { value throws(ControlProblem) in
            guard let status = value["status"]?.int else {
                throw call.invalid("answer is \(value.text); expected an object with a status")
            }
            return RecordedCall.Answer(status: status, body: value["body"]?.string.map { Array($0.utf8) })
        }
        return .deferred { [explainer] in
            var explanations: [JSON] = []
            do throws(RecordingProblem) {
                for var recorded in try explainer.refused(of: RecordedCall.all(in: Array(recording.utf8))) {
                    recorded.answer = answer ?? recorded.answer
                    explanations.append(try await explainer.explain(recorded, at: moment))
                }
            } catch {
                return call.invalid("the recording: \(error.description)").response
            }
            return .json(["calls": .array(explanations)])
        }
    }
}
