internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// One request of the client on its way: a thread works on it, and it ends once, by whoever is first.
final class ClientExchange: Sendable {
    typealias Outcome = Result<ClientResponse, ClientError>

    private struct State {
        var outcome: Outcome?
        var waiting: CheckedContinuation<Outcome, Never>?
        var socket: Socket?
    }

    private let target: ClientTarget
    private let bytes: [UInt8]
    private let isHead: Bool
    private let trust: TLSTrust
    private let limit: Duration
    private let deadline: Moment
    private let maximumBody: Int
    private let state = Mutex(State())

    init(
        _ target: ClientTarget, bytes: [UInt8], isHead: Bool, trust: TLSTrust, within limit: Duration, maximumBody: Int
    ) {
        self.target = target
        self.bytes = bytes
        self.isHead = isHead
        self.trust = trust
        self.limit = limit
        deadline = .now + limit
        self.maximumBody = maximumBody
    }

    /// Has the exchange worked on and returns how it ended.
    ///
    /// The time-out is kept here too, since nothing can interrupt the look-up of a name.
    func outcome() async -> Outcome {
        ClientThreads.shared.run { self.perform() }
        let timeout = Task { [limit] in
            // Cancelled means that the exchange has ended: there is nothing left to time out.
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            self.end(.failure(.timedOut))
        }
        defer { timeout.cancel() }
        return await withCheckedContinuation { continuation in
            let known = state.withLock { state in
                if state.outcome == nil { state.waiting = continuation }
                return state.outcome
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Ends the exchange, unless it has ended already; a thread that waits for the socket wakes up.
    func end(_ outcome: Outcome) {
        let waiting = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            state.socket?.shutdownBoth()
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: outcome)
    }

    private var hasEnded: Bool { state.withLock { $0.outcome != nil } }
}

// MARK: - On the client's thread

extension ClientExchange {
    private func perform() {
        guard !hasEnded else { return }
        do throws(ClientError) {
            let socket = try connect()
            let transport = try transport(over: socket)
            defer { close(transport) }
            try establish(transport)
            try send(on: transport)
            end(.success(try receive(on: transport)))
        } catch {
            end(.failure(error))
        }
    }

    /// Connects to the first address that accepts.
    private func connect() throws(ClientError) -> Socket {
        var failure = ClientError.unknownHost(target.host)
        for address in SocketAddress.resolve(host: target.host, port: target.port) {
            guard let socket = Socket(family: address.family) else { continue }
            guard keep(socket) else {
                socket.close()
                throw .cancelled
            }
            let reason = try start(socket, address)
            if reason == 0 { return socket }
            forget()
            socket.close()
            failure = .notReachable(target.authority, reason: OperatingSystem.errorText(reason))
        }
        throw failure
    }

    /// The reason for which the connection was refused, or 0.
    private func start(_ socket: Socket, _ address: SocketAddress) throws(ClientError) -> Int32 {
        if address.withPointer({ connectSocket(socket.descriptor, $0, $1) }) == 0 { return 0 }
        guard errno == EINPROGRESS || errno == EINTR else { return errno }
        do throws(ClientError) {
            try wait(for: Int16(POLLOUT), on: socket)
        } catch {
            forget()
            socket.close()
            throw error
        }
        return socket.pendingError
    }

    private func transport(over socket: Socket) throws(ClientError) -> ClientTransport {
        guard target.isSecure else { return ClientTransport(socket) }
        guard let session = TLSSession(socket, trust: trust, host: target.host) else {
            forget()
            socket.close()
            throw .tlsFailed("OpenSSL has no room for a connection, or \(target.host) is no name for it")
        }
        return ClientTransport(socket, session)
    }

    private func establish(_ transport: ClientTransport) throws(ClientError) {
        while let events = try transport.establish() { try wait(for: events, on: transport.socket) }
    }

    private func send(on transport: ClientTransport) throws(ClientError) {
        var sent = 0
        while sent < bytes.count {
            let transfer = bytes.withUnsafeBytes { transport.write(UnsafeRawBufferPointer(rebasing: $0[sent...])) }
            switch transfer {
            case .moved(let count): sent += count
            case .wouldBlock: try wait(for: Int16(POLLOUT), on: transport.socket)
            // A server may answer before it has read everything, and close.
            case .ended, .broken: return
            }
        }
    }

    private func receive(on transport: ClientTransport) throws(ClientError) -> ClientResponse {
        var parser = ResponseParser(isHead: isHead, maximumBody: maximumBody)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * 1024, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            switch transport.read(into: buffer) {
            case .moved(let count):
                let received = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                if let response = try parser.feed(received) { return response }
            case .wouldBlock: try wait(for: transport.events, on: transport.socket)
            case .ended: return try parser.finish()
            case .broken: throw .connectionLost
            }
        }
    }

    private func wait(for events: Int16, on socket: Socket) throws(ClientError) {
        while true {
            let milliseconds = deadline.milliseconds(since: .now)
            guard milliseconds > 0 else { throw .timedOut }
            var entry = pollfd(fd: socket.descriptor, events: events, revents: 0)
            if poll(&entry, 1, milliseconds) > 0 { return }
        }
    }

    /// Makes the socket known, so that an end can wake this thread; false when the exchange has ended.
    private func keep(_ socket: Socket) -> Bool {
        state.withLock { state in
            guard state.outcome == nil else { return false }
            state.socket = socket
            return true
        }
    }

    private func close(_ transport: ClientTransport) {
        forget()
        transport.close()
    }

    /// Has nobody touch the descriptor any more: once it is closed, its number may be another's.
    private func forget() { state.withLock { $0.socket = nil } }
}

/// `connect`, which a method of that name would hide.
private func connectSocket(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    connect(descriptor, address, length)
}
