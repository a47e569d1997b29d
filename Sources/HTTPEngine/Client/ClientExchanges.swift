internal import Synchronization

/// The client's exchanges in progress: their limits, and access to the one thread that performs them.
///
/// The thread starts with the first exchange and ends when this is released.
final class ClientExchanges: Sendable {
    /// Those of this process. ours: limits that withstand a flood and are far above ordinary use.
    static let shared = ClientExchanges(
        ClientOccupancy(maximumExchanges: 1000, maximumBytes: 128 * 1024 * 1024), NameLookUps(maximumThreads: 4))

    let occupancy: ClientOccupancy
    private let lookUps: NameLookUps
    private let mailbox = Mutex<Mailbox<ClientLoop.Message>?>(nil)

    init(_ occupancy: ClientOccupancy, _ lookUps: NameLookUps) {
        self.occupancy = occupancy
        self.lookUps = lookUps
    }

    deinit { mailbox.withLock { $0?.post(.end) } }

    /// Performs the exchange and returns its outcome; at once when the task is cancelled.
    func outcome(of exchange: ClientExchange) async -> ClientExchange.Outcome {
        await withTaskCancellationHandler {
            begin(exchange)
            return await exchange.outcome()
        } onCancel: {
            exchange.end(.failure(.cancelled))
            mailbox.withLock { $0?.post(.forget(exchange)) }
        }
    }

    private func begin(_ exchange: ClientExchange) {
        guard !exchange.hasEnded else { return }
        guard occupancy.enter(byteCount: exchange.bytes.count) else { return exchange.end(.failure(.tooMany)) }
        do throws(ServerError) {
            try runningLoop().post(.begin(exchange))
        } catch {
            occupancy.leave(byteCount: exchange.bytes.count)
            exchange.end(.failure(.notReachable(exchange.target.authority, reason: error.reason)))
        }
    }

    /// The mailbox of the loop, which is started if needed.
    private func runningLoop() throws(ServerError) -> Mailbox<ClientLoop.Message> {
        try mailbox.withLock { (known) throws(ServerError) in
            if let known { return known }
            let (mailbox, poller) = (try Mailbox<ClientLoop.Message>(), try Poller())
            guard poller.add(mailbox.wakeUp.descriptor, .reading) else { throw .lastFailure(of: "poll") }
            let isRunning = OperatingSystem.startThread { [occupancy, lookUps] in
                ClientLoop(poller, mailbox, occupancy, lookUps).run()
            }
            guard isRunning else { throw .system(call: "pthread_create", reason: "there is no thread left") }
            known = mailbox
            return mailbox
        }
    }
}

extension ServerError {
    /// The system's text, for an error without a listener.
    fileprivate var reason: String {
        if case .system(let call, let reason) = self { return "the system refused \(call): \(reason)" }
        return description
    }
}
