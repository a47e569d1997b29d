import COpenSSL
import Synchronization

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
        if configuration.includesIPv6Loopback {
            // Where there is no ::1, or the port is taken there, clients have the other address as ever.
            listeners += listeners.compactMap {
                try? ListeningSocket(.init(host: "::1", port: $0.address.port, identity: $0.identity))
            }
        }
        let occupancy = ServerOccupancy(keeping: configuration.limits.keptBytes)
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

/// A server's listeners, loops and limits.
package struct ServerConfiguration: Sendable {
    package struct Listener: Sendable, Hashable {
        /// An IPv4 or IPv6 address, or a name, for which an IPv4 address is preferred.
        package var host: String
        /// The port; 0 picks a free one.
        package var port: Int
        /// The server's TLS identity; `nil` for plain text.
        package var identity: TLSIdentity?

        package init(host: String = "127.0.0.1", port: Int, identity: TLSIdentity? = nil) {
            self.host = host
            self.port = port
            self.identity = identity
        }
    }

    package var listeners: [Listener]
    /// The number of event loops, each on its own thread.
    package var loops: Int
    package var limits: Limits
    /// Whether each listener also listens at `::1`, which is what some clients take `localhost` for.
    package var includesIPv6Loopback: Bool

    /// A configuration with these parts; by default one loop per core.
    package init(
        listeners: [Listener], loops: Int = ServerConfiguration.coreCount, limits: Limits = Limits(),
        includesIPv6Loopback: Bool = false
    ) {
        self.includesIPv6Loopback = includesIPv6Loopback
        self.listeners = listeners
        self.loops = loops
        self.limits = limits
    }

    /// The number of cores that this process may use.
    package static var coreCount: Int { max(1, OperatingSystem.coreCount) }
}

package struct BoundAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address, without brackets.
    package let host: String
    /// The port, never 0.
    package let port: Int
    /// Whether the listener speaks TLS.
    package let isSecure: Bool

    package var scheme: String { isSecure ? "https" : "http" }

    /// The address by which this machine reaches it: `0.0.0.0` and `::` are none.
    package var local: BoundAddress { BoundAddress(host: Self.local(host) ?? host, port: port, isSecure: isSecure) }

    /// What this machine connects to where a server listens on all addresses of a family; `nil` for a single address.
    package static func local(_ host: String) -> String? { ["0.0.0.0": "127.0.0.1", "::": "::1"][host] }

    /// `host:port`, with an IPv6 address in brackets.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Why a server cannot start; the description is one line for the user.
package enum ServerError: Error, Hashable, CustomStringConvertible {
    case portTaken(host: String, port: Int)
    case unknownHost(String)
    case foreignAddress(host: String)
    case invalidPort(Int)
    case notPermitted(host: String, port: Int)
    case noListener
    /// A system call failed for another reason.
    case system(call: String, reason: String)

    package var description: String {
        switch self {
        case .portTaken(let host, let port):
            "port \(port) at \(host) is already in use; choose another port, or 0 for a free one."
        case .unknownHost(let host):
            "\"\(host)\" is not an address of this machine: give one such as 127.0.0.1, ::1 or 0.0.0.0, or a name that resolves."
        case .foreignAddress(let host):
            "\(host) is not an address of this machine: give one that is, or 0.0.0.0 for all of them."
        case .invalidPort(let port):
            "\(port) is not a port (0–65535)."
        case .notPermitted(let host, let port):
            "no permission to listen on port \(port) at \(host): choose port 1024 or above."
        case .noListener:
            "there is no address to listen on: give at least one host and port."
        case .system(let call, let reason):
            "the system refused \(call): \(reason)."
        }
    }

    /// The error of a call that has just set `errno`.
    static func lastFailure(of call: String) -> ServerError {
        .system(call: call, reason: OperatingSystem.errorText(OperatingSystem.lastError))
    }
}

/// Counts the running loops and signals when the last one has ended.
final class RunningLoops: Sendable {
    private struct State {
        var count = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Runs a loop on a new thread; false when the system has none left.
    func start(_ loopConfiguration: LoopConfiguration) -> Bool {
        state.withLock { $0.count += 1 }
        let isRunning = OperatingSystem.startThread { [self] in
            EventLoop(loopConfiguration).run()
            // Before the end is known: a process that ends then takes down OpenSSL, with what this thread has of it.
            OPENSSL_thread_stop()
            loopEnded()
        }
        if !isRunning { loopEnded() }
        return isRunning
    }

    func waitUntilEnded() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.count > 0 { state.waiting.append(continuation) }
                return state.count == 0
            }
            if isOver { continuation.resume() }
        }
    }

    private func loopEnded() {
        let waiting = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
