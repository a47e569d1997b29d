internal import Synchronization

#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// The threads on which exchanges are performed; each ends when none is left.
final class ClientThreads: Sendable {
    /// The process's threads. ours: limits that withstand a flood and are far above ordinary use.
    static let shared = ClientThreads(maximum: 64, waiting: 1000)

    private struct State {
        var threads = 0
        var waiting: [ClientExchange] = []
    }

    private let maximum: Int
    private let maximumWaiting: Int
    /// Blocks for as long as the resolver takes, which nothing interrupts; its thread is busy until then.
    private let resolve: @Sendable (ClientTarget) -> [SocketAddress]
    private let state = Mutex(State())

    init(
        maximum: Int, waiting: Int,
        resolve: @escaping @Sendable (ClientTarget) -> [SocketAddress] = {
            SocketAddress.resolve(host: $0.host, port: $0.port)
        }
    ) {
        (self.maximum, maximumWaiting, self.resolve) = (maximum, waiting, resolve)
    }

    /// Performs the exchange as soon as a thread is free.
    fileprivate func perform(_ exchange: ClientExchange) {
        let (mayWait, mustStart) = state.withLock { state in
            let isFree = state.threads < maximum
            guard isFree || state.waiting.count < maximumWaiting else { return (false, false) }
            state.waiting.append(exchange)
            if isFree { state.threads += 1 }
            return (true, isFree)
        }
        guard mayWait else { return exchange.end(.failure(.tooMany)) }
        guard mustStart, !OperatingSystem.startThread(workOff) else { return }
        // Without a new thread it waits for a running one, if there is any.
        let left = state.withLock { state -> [ClientExchange] in
            state.threads -= 1
            guard state.threads == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for exchange in left {
            let reason = "the system refused pthread_create: there is no thread left"
            exchange.end(.failure(.notReachable(exchange.target.authority, reason: reason)))
        }
    }

    @Sendable private func workOff() {
        while let exchange = next() { exchange.perform(resolve) }
    }

    private func next() -> ClientExchange? {
        state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.threads -= 1
            return nil
        }
    }
}

/// One request, which ends once: with its answer, at its deadline, or with the task that waits for it.
final class ClientExchange: Sendable {
    typealias Outcome = Result<ClientResponse, ClientError>

    private struct State {
        var outcome: Outcome?
        var waiting: CheckedContinuation<Outcome, Never>?
    }

    let target: ClientTarget
    /// Head and content.
    private let request: [UInt8]
    private let isHead: Bool
    private let trust: TLSTrust
    private let maximumBody: Int
    private let state = Mutex(State())

    init(_ target: ClientTarget, _ request: [UInt8], isHead: Bool, _ trust: TLSTrust, _ maximumBody: Int) {
        (self.target, self.request, self.isHead, self.trust) = (target, request, isHead, trust)
        self.maximumBody = maximumBody
    }

    /// Waits for the end, but not for the thread once the time is over or the task is cancelled; called once.
    func outcome(on threads: ClientThreads, within limit: Duration) async -> Outcome {
        async let _ = giveUp(after: limit)
        return await withTaskCancellationHandler {
            if !hasEnded { threads.perform(self) }
            return await withCheckedContinuation { continuation in
                let known = state.withLock { state in
                    if state.outcome == nil { state.waiting = continuation }
                    return state.outcome
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            end(.failure(.cancelled))
        }
    }

    /// The end of the caller's scope cancels this, so that an answer does not wait for it.
    private func giveUp(after limit: Duration) async {
        // A limit over thirty years is none; clamping prevents overflow.
        guard (try? await Task.sleep(for: min(limit, .seconds(1_000_000_000)))) != nil else { return }
        end(.failure(.timedOut))
    }

    private var hasEnded: Bool { state.withLock { $0.outcome != nil } }

    /// Ends the exchange, unless it has ended already.
    fileprivate func end(_ outcome: Outcome) {
        let waiting = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(returning: outcome)
    }
}

// MARK: - On a thread

extension ClientExchange {
    /// Blocks until the exchange has ended.
    fileprivate func perform(_ resolve: (ClientTarget) -> [SocketAddress]) {
        end(Outcome { () throws(ClientError) in try answer(resolve) })
    }

    private func answer(_ resolve: (ClientTarget) -> [SocketAddress]) throws(ClientError) -> ClientResponse {
        let socket = try connect(resolve)
        let session = target.isSecure ? TLSSession(socket, trust: trust, host: target.host) : nil
        let transport = Transport(socket, session)
        defer { transport.close() }
        if let session { try authenticate(session) }
        guard target.isSecure == (session != nil) else {
            throw .tlsFailed("OpenSSL has no room for a connection, or \(target.host) is not a name for it")
        }
        return try answer(over: transport)
    }

    /// Waits until the socket is ready, or somebody else has ended the exchange, which it notices within a tenth of a
    /// second.
    private func wait(_ socket: Int32, for interest: Interest) throws(ClientError) {
        let events = (interest.contains(.reading) ? POLLIN : 0) | (interest.contains(.writing) ? POLLOUT : 0)
        var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
        repeat { try checkIsWanted() } while poll(&entry, 1, 100) == 0
    }

    private func checkIsWanted() throws(ClientError) {
        // Which error does not matter: the exchange has one.
        guard !hasEnded else { throw .cancelled }
    }

    /// Connects to the first address that accepts.
    private func connect(_ resolve: (ClientTarget) -> [SocketAddress]) throws(ClientError) -> Socket {
        try checkIsWanted()
        let known = target.knownAddresses
        let addresses = known.isEmpty ? resolve(target) : known
        var reason: Int32?
        for address in addresses {
            guard let socket = Socket(family: address.family) else {
                reason = OperatingSystem.lastError
                continue
            }
            do throws(ClientError) {
                reason = try connect(socket, to: address)
            } catch {
                socket.close()
                throw error
            }
            if reason == 0 { return socket }
            socket.close()
        }
        guard let reason else { throw .unknownHost(target.host) }
        throw .notReachable(target.authority, reason: OperatingSystem.errorText(reason))
    }

    /// The error of the attempt; 0 if it succeeded.
    private func connect(_ socket: Socket, to address: SocketAddress) throws(ClientError) -> Int32 {
        socket.setOption(Int32(IPPROTO_TCP), TCP_NODELAY)
        if address.withPointer({ connectSocket(socket.descriptor, $0, $1) }) == 0 { return 0 }
        let reason = OperatingSystem.lastError
        guard reason == EINPROGRESS || reason == EINTR else { return reason }
        // The end of an attempt, successful or not, is reported as ready for writing.
        try wait(socket.descriptor, for: .writing)
        return socket.pendingError
    }

    private func authenticate(_ session: TLSSession) throws(ClientError) {
        while true {
            switch session.shakeHands() {
            case .complete: return
            case .waiting: try wait(session.socket.descriptor, for: session.needs.isEmpty ? .reading : session.needs)
            case .failed:
                if let reason = session.distrust { throw .notTrusted(reason) }
                throw .tlsFailed(session.handshakeProblem ?? "the handshake failed")
            }
        }
    }

    /// Sends and receives at the same time: a server may answer before it has read everything, and read no further.
    private func answer(over transport: Transport) throws(ClientError) -> ClientResponse {
        var unsent = request[...]
        var parser = ResponseParser(isHead: isHead, maximumBody: maximumBody)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            try checkIsWanted()
            send(&unsent, by: transport)
            switch transport.read(into: buffer) {
            case .moved(let count):
                let received = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                if let response = try parser.feed(received) { return response }
            case .wouldBlock:
                let needs: Interest = transport.needs.isEmpty ? .reading : transport.needs
                try wait(transport.descriptor, for: unsent.isEmpty ? needs : [needs, .writing])
            case .ended: return try parser.finish()
            case .broken: throw .connectionLost
            }
        }
    }

    private func send(_ unsent: inout ArraySlice<UInt8>, by transport: Transport) {
        while !unsent.isEmpty {
            switch unsent.withUnsafeBytes(transport.write) {
            case .moved(let count): unsent = unsent.dropFirst(count)
            case .wouldBlock: return
            // The server may have answered before it had read everything.
            case .ended, .broken: unsent = []
            }
        }
    }
}

/// `connect`, which a method of that name would hide.
private func connectSocket(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    connect(descriptor, address, length)
}
