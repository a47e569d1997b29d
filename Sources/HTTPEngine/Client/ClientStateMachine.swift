/// The progress of one exchange: a pure value that takes events and determines the next step.
struct ClientStateMachine {
    /// The next step.
    enum Step {
        /// Find the addresses of the host.
        case lookUp
        case connect(SocketAddress)
        /// Authenticate the server by TLS.
        case shakeHands
        /// Send the rest, and receive.
        case transfer
        case end(ClientExchange.Outcome)
    }

    private(set) var step: Step
    private let target: ClientTarget
    private let request: [UInt8]
    private var addresses: ArraySlice<SocketAddress>
    private var sentCount = 0
    private var parser: ResponseParser

    init(_ target: ClientTarget, request: [UInt8], isHead: Bool, maximumBody: Int) {
        self.target = target
        self.request = request
        parser = ResponseParser(isHead: isHead, maximumBody: maximumBody)
        addresses = target.knownAddresses[...]
        step = addresses.first.map(Step.connect) ?? .lookUp
    }

    var hasUnsent: Bool { sentCount < request.count }

    /// The bytes buffered for the exchange.
    var byteCount: Int { request.count + parser.byteCount }

    /// Calls `body` with the unsent bytes.
    func withUnsent<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        request.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[sentCount...])) }
    }
}

// MARK: - Events

extension ClientStateMachine {
    mutating func found(_ found: [SocketAddress]) {
        addresses = found[...]
        step = addresses.first.map(Step.connect) ?? .end(.failure(.unknownHost(target.host)))
    }

    /// The current address refuses the connection; the next one may accept it.
    mutating func notConnected(because reason: String) {
        addresses = addresses.dropFirst()
        step = addresses.first.map(Step.connect) ?? .end(.failure(.notReachable(target.authority, reason: reason)))
    }

    /// The connection is established.
    mutating func connected() { step = target.isSecure ? .shakeHands : .transfer }

    /// The server is authenticated.
    mutating func secured() { step = .transfer }

    /// That many more bytes were sent.
    mutating func sent(_ count: Int) { sentCount += count }

    /// The server reads nothing more: it may have answered before it had read everything.
    mutating func sendingEnded() { sentCount = request.count }

    mutating func received(_ bytes: UnsafeRawBufferPointer) {
        do throws(ClientError) {
            if let response = try parser.feed(bytes) { step = .end(.success(response)) }
        } catch {
            fail(error)
        }
    }

    /// The server sends nothing more.
    mutating func receivingEnded() {
        do throws(ClientError) {
            step = .end(.success(try parser.finish()))
        } catch {
            fail(error)
        }
    }

    mutating func fail(_ error: ClientError) { step = .end(.failure(error)) }
}
