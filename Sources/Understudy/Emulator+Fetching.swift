import Emulation
import HTTPEngine
import HTTPTypes
import Wire

/// Answers that wait until their sandbox is here.
extension Emulator {
    /// How long a call waits until its sandbox can be used here.
    private static let patience = Duration.seconds(5)

    /// Fetches a sandbox on a thread that may wait, and answers then.
    ///
    /// - Returns: the answer, or 503 if nobody may use the sandbox here now.
    func fetching(_ name: String, _ answer: @escaping @Sendable (Sandbox) -> Answer) async -> Response {
        let end = ContinuousClock.now + Self.patience
        while true {
            let fetched = await fetching.run { [sandboxes] in
                Result { () throws(SandboxUnavailable) in try sandboxes.fetch(name) }
            }
            switch fetched {
            case .success(let sandbox): return await Self.response(of: answer(sandbox))
            case .failure(let reason):
                guard let news = reason.news, ContinuousClock.now < end else { return Self.unavailable(reason) }
                await news()
            }
        }
    }

    /// Answers a call once it is certain that its sandbox was this server's when it was carried out; a sandbox that others
    /// have taken meanwhile has begun from what was there before the call.
    func confirmed(
        in sandbox: Sandbox, _ answer: () -> Response, or again: () async -> Response
    ) async -> Response {
        let end = ContinuousClock.now + Self.patience
        while !sandboxes.mayAnswer(in: sandbox) {
            if sandbox.isLost { return await again() }
            // Cancelled, nobody waits for the answer any more.
            guard ContinuousClock.now < end, (try? await Task.sleep(for: .milliseconds(20))) != nil else {
                return Self.uncertain
            }
        }
        return answer()
    }

    /// The response of an answer, once it is available.
    static func response(of answer: Answer) async -> Response {
        switch answer {
        case .ready(let response): response
        case .deferred(let work): await work()
        }
    }

    /// The refusal of a call whose effect is not known. ours: no vendor is involved.
    static var uncertain: Response {
        unavailable(
            SandboxUnavailable("Whether the call was carried out will show when the store can be reached."))
    }

    /// The refusal of a call whose sandbox has moved twice meanwhile.
    static func moving(_ name: String) -> Response {
        unavailable(SandboxUnavailable("The sandbox \(name) is just moving; repeat the call."))
    }

    /// The refusal of a call whose sandbox cannot be used here now. ours: nothing was done, so the call may be repeated.
    static func unavailable(_ reason: SandboxUnavailable) -> Response {
        var response = ControlProblem(.serviceUnavailable, "sandbox-unavailable", "\(reason)").response
        response.fields[.retryAfter] = "1"
        response.closeToPages()
        return response
    }
}

/// Leaving without anybody noticing: first new requests go elsewhere, then the sandboxes.
extension Emulator {
    /// This server's name among those that share a store; `nil` for a server alone.
    package var replica: String? { keeper?.store.replica }

    /// Why a proxy should send requests elsewhere; `nil` when it should not.
    var reasonToStayAway: String? {
        if isDraining.load(ordering: .relaxed) { return "the server is stopping" }
        return keeper?.lapse.map { "\($0)" }
    }

    /// Fails readiness from now on, while everything is still answered.
    package func beginDraining() { isDraining.store(true, ordering: .relaxed) }
}
