internal import Synchronization

/// One request of the client, as seen by its waiting caller: it ends once, with the first outcome.
final class ClientExchange: Sendable {
    typealias Outcome = Result<ClientResponse, ClientError>

    private struct State {
        var outcome: Outcome?
        var waiting: CheckedContinuation<Outcome, Never>?
    }

    let target: ClientTarget
    /// The request, head and content.
    let bytes: [UInt8]
    let isHead: Bool
    let trust: TLSTrust
    /// When it is abandoned, at whatever stage.
    let deadline: MonotonicTime
    let maximumBody: Int
    private let state = Mutex(State())

    /// A request; its time starts now.
    init(
        _ target: ClientTarget, bytes: [UInt8], isHead: Bool, trust: TLSTrust, within limit: Duration, maximumBody: Int
    ) {
        self.target = target
        self.bytes = bytes
        self.isHead = isHead
        self.trust = trust
        deadline = .now + limit
        self.maximumBody = maximumBody
    }

    var hasEnded: Bool { state.withLock { $0.outcome != nil } }

    /// Waits until the exchange has ended; called once.
    func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state in
                if state.outcome == nil { state.waiting = continuation }
                return state.outcome
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Ends the exchange, unless it has ended already.
    func end(_ outcome: Outcome) {
        let waiting = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: outcome)
    }
}
