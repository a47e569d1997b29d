import Emulation
import HTTPEngine
import HTTPTypes
import Wire

/// Answers that wait until their sandbox is here.
extension Emulator {
    /// Fetches a sandbox on a thread that may wait, and answers then.
    ///
    /// - Returns: the answer, or 503 if nobody may use the sandbox here now.
    func fetching(_ name: String, _ answer: @escaping @Sendable (Sandbox) -> Answer) async -> Response {
        let fetched = await fetching.run { [sandboxes] in
            Result { () throws(SandboxUnavailable) in try sandboxes.fetch(name) }
        }
        switch fetched {
        case .success(let sandbox): return await Self.response(of: answer(sandbox))
        case .failure(let reason): return Self.unavailable(reason)
        }
    }

    /// The response of an answer, once it is available.
    static func response(of answer: Answer) async -> Response {
        switch answer {
        case .ready(let response): response
        case .deferred(let work): await work()
        }
    }

    /// The refusal of a call whose sandbox cannot be used here now. ours: nothing was done, so the call may be repeated.
    static func unavailable(_ reason: SandboxUnavailable) -> Response {
        var response = ControlProblem(.serviceUnavailable, "sandbox-unavailable", "\(reason)").response
        response.fields[.retryAfter] = "1"
        response.closeToPages()
        return response
    }
}
