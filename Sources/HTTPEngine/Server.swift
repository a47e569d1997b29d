/// A web server: it listens, parses requests strictly by RFC 9112, and sends its handler's answers.
///
/// It listens from the beginning and accepts after ``start()``; it stops at once when released.
package final class Server: Sendable {
    /// The addresses that the server listens on, in the order of the configuration.
    package let addresses: [BoundAddress]

    private let acceptingMailbox: LoopMailbox
    private let otherMailboxes: [LoopMailbox]
    private let running: RunningLoops

    /// Binds and listens; clients that connect before ``start()`` wait.
    package init(_ configuration: ServerConfiguration, handler: any RequestHandler) throws(ServerError) {
        guard !configuration.listeners.isEmpty else { throw .noListener }
        var listeners: [ListeningSocket] = []
        for listener in configuration.listeners { listeners.append(try ListeningSocket(listener)) }
        addresses = listeners.map(\.address)
        let occupancy = ServerOccupancy()
        let loopConfigurations = try LoopConfiguration.make(configuration, listeners, handler, occupancy)
        guard let first = loopConfigurations.first else { throw .noListener }
        acceptingMailbox = first.mailbox
        otherMailboxes = first.peers
        handler.willServe(occupancy)
        running = RunningLoops()
        for loopConfiguration in loopConfigurations where !running.start(loopConfiguration) {
            first.mailbox.post(.stop(deadline: .now))
            throw .lastFailure(of: "pthread_create")
        }
    }

    deinit { stop(by: .now) }

    /// Starts accepting connections.
    package func start() { acceptingMailbox.post(.accept) }

    /// Stops: accepts nothing more, closes idle connections, and finishes what is in flight.
    ///
    /// Unanswered requests are cut off at the limit; of several stops the earliest deadline counts. Returns when all
    /// connections are closed.
    package func stop(within limit: Duration) async {
        stop(by: .now + limit)
        await waitUntilStopped()
    }

    private func stop(by deadline: MonotonicTime) {
        acceptingMailbox.post(.stop(deadline: deadline))
        // The accepting loop tells the others after passing on the last connection; once it has ended, only this can
        // shorten their deadline.
        for mailbox in otherMailboxes { mailbox.post(.hurry(deadline: deadline)) }
    }

    package func waitUntilStopped() async { await running.waitUntilEnded() }
}
