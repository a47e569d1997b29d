#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// An exchange of the client on its loop: performs the steps of the exchange's state machine on a socket.
///
/// Only the loop's thread uses it.
final class ClientConnection {
    let exchange: ClientExchange
    private(set) var machine: ClientStateMachine
    private var socket: Socket?
    private var transport: Transport?
    private var interest: Interest = []
    /// Whether the loop resumes it without an event from the poller.
    var isPostponed = false

    /// Reads before other exchanges get their turn.
    private static let readsPerTurn = 4

    init(_ exchange: ClientExchange) {
        self.exchange = exchange
        machine = ClientStateMachine(
            exchange.target, request: exchange.bytes, isHead: exchange.isHead, maximumBody: exchange.maximumBody)
    }

    /// Takes the addresses found by a look-up.
    func found(_ addresses: [SocketAddress], _ loop: ClientLoop) {
        guard case .lookUp = machine.step else { return }
        machine.found(addresses)
        proceed(loop)
    }

    /// Does what an event makes possible.
    func handle(_ readiness: Readiness, _ loop: ClientLoop) {
        if case .connect = machine.step { endConnecting(loop) } else { proceed(loop) }
    }

    /// Continues until it has to wait.
    func proceed(_ loop: ClientLoop) {
        switch machine.step {
        case .lookUp: loop.lookUp(self)
        case .connect: if socket == nil { connect(loop) }
        case .shakeHands: shakeHands(loop)
        case .transfer: transfer(loop)
        case .end(let outcome): loop.end(self, outcome)
        }
    }

    func close(_ loop: ClientLoop) {
        if let socket { loop.forget(socket) }
        if let transport { transport.close() } else { socket?.close() }
        (transport, socket) = (nil, nil)
    }
}

// MARK: - Steps

extension ClientConnection {
    private func connect(_ loop: ClientLoop) {
        guard case .connect(let address) = machine.step else { return }
        guard let socket = Socket(family: address.family) else { return refuse(OperatingSystem.lastError, loop) }
        socket.setOption(Int32(IPPROTO_TCP), TCP_NODELAY)
        interest = .writing
        // The end of a connection attempt, successful or not, is reported as ready for writing.
        guard start(socket, address), loop.watch(socket, for: self, interest) else {
            let reason = OperatingSystem.lastError
            socket.close()
            return refuse(reason, loop)
        }
        self.socket = socket
    }

    /// Begins to connect; false with `errno` set when the address is refused at once.
    private func start(_ socket: Socket, _ address: SocketAddress) -> Bool {
        if address.withPointer({ connectSocket(socket.descriptor, $0, $1) }) == 0 { return true }
        return [EINPROGRESS, EINTR].contains(OperatingSystem.lastError)
    }

    /// Determines the result of an attempt to connect.
    private func endConnecting(_ loop: ClientLoop) {
        guard let socket else { return }
        let reason = socket.pendingError
        guard reason == 0 else {
            close(loop)
            return refuse(reason, loop)
        }
        machine.connected()
        let target = exchange.target
        let session = target.isSecure ? TLSSession(socket, trust: exchange.trust, host: target.host) : nil
        if target.isSecure, session == nil {
            machine.fail(.tlsFailed("OpenSSL has no room for a connection, or \(target.host) is not a name for it"))
        }
        transport = Transport(socket, session)
        proceed(loop)
    }

    /// Schedules the next address for a turn of its own, so that no event of this socket is taken for one of the next.
    private func refuse(_ reason: Int32, _ loop: ClientLoop) {
        machine.notConnected(because: OperatingSystem.errorText(reason))
        loop.postpone(self)
    }

    private func shakeHands(_ loop: ClientLoop) {
        guard let transport else { return }
        do throws(ClientError) {
            guard try transport.establish() else { return watch(for: transport.interest, loop) }
            machine.secured()
        } catch {
            machine.fail(error)
        }
        proceed(loop)
    }

    /// Sends and receives at the same time: a server may answer before it has read everything, and read no further.
    private func transfer(_ loop: ClientLoop) {
        guard let transport else { return }
        send(by: transport)
        let hasMore = receive(by: transport, loop)
        if case .end(let outcome) = machine.step { return loop.end(self, outcome) }
        if hasMore { return loop.postpone(self) }
        watch(for: machine.hasUnsent ? [transport.interest, .writing] : transport.interest, loop)
    }

    private func send(by transport: Transport) {
        while machine.hasUnsent {
            switch machine.withUnsent(transport.write) {
            case .moved(let count): machine.sent(count)
            case .wouldBlock: return
            case .ended, .broken: machine.sendingEnded()
            }
        }
    }

    /// Reads what has arrived; true when there may be more.
    private func receive(by transport: Transport, _ loop: ClientLoop) -> Bool {
        for _ in 0..<Self.readsPerTurn {
            switch transport.read(into: loop.scratch) {
            case .moved(let count):
                let before = machine.byteCount
                machine.received(UnsafeRawBufferPointer(rebasing: loop.scratch[..<count]))
                if !loop.keep(machine.byteCount - before) { machine.fail(.tooMany) }
            case .wouldBlock: return false
            case .ended: machine.receivingEnded()
            case .broken: machine.fail(.connectionLost)
            }
            if case .end = machine.step { return false }
        }
        return true
    }

    private func watch(for wanted: Interest, _ loop: ClientLoop) {
        guard let socket, wanted != interest else { return }
        loop.change(socket, from: interest, to: wanted)
        interest = wanted
    }
}

/// `connect`, which a method of that name would hide.
private func connectSocket(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    connect(descriptor, address, length)
}
