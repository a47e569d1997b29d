/// How far an exchange of the client is: a pure value, which is told what happened and says what is next.
struct ClientStateMachine {
    /// What is to be done next.
    enum Step {
        /// Find the addresses of the host.
        case lookUp
        /// Connect to that address.
        case connect(SocketAddress)
        /// Find out by TLS who the server is.
        case shakeHands
        /// Send what is unsent, and receive.
        case transfer
        /// Nothing: this came of it.
        case end(ClientExchange.Outcome)
    }

    private(set) var step: Step
    private let target: ClientTarget
    private let request: [UInt8]
    private var addresses: ArraySlice<SocketAddress>
    private var sentCount = 0
    private var parser: ResponseParser

    /// A request that nothing was done for yet.
    init(_ target: ClientTarget, request: [UInt8], isHead: Bool, maximumBody: Int) {
        self.target = target
        self.request = request
        parser = ResponseParser(isHead: isHead, maximumBody: maximumBody)
        addresses = target.knownAddresses[...]
        step = addresses.first.map(Step.connect) ?? .lookUp
    }

    /// Whether a part of the request has to go.
    var hasUnsent: Bool { sentCount < request.count }

    /// The bytes that are kept for the exchange.
    var byteCount: Int { request.count + parser.byteCount }

    /// Calls `body` with what has to go.
    func withUnsent<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        request.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[sentCount...])) }
    }
}

// MARK: - What happened

extension ClientStateMachine {
    /// These are the host's addresses.
    mutating func found(_ found: [SocketAddress]) {
        addresses = found[...]
        step = addresses.first.map(Step.connect) ?? .end(.failure(.unknownHost(target.host)))
    }

    /// The address of the step takes no connection; the next one may.
    mutating func notConnected(because reason: String) {
        addresses = addresses.dropFirst()
        step = addresses.first.map(Step.connect) ?? .end(.failure(.notReachable(target.authority, reason: reason)))
    }

    /// The connection is there.
    mutating func connected() { step = target.isSecure ? .shakeHands : .transfer }

    /// The server is the one that is meant.
    mutating func secured() { step = .transfer }

    /// So many more bytes went.
    mutating func sent(_ count: Int) { sentCount += count }

    /// The server takes nothing more: it may have answered before it had read everything.
    mutating func sendingEnded() { sentCount = request.count }

    /// These bytes came.
    mutating func received(_ bytes: UnsafeRawBufferPointer) {
        do throws(ClientError) {
            if let response = try parser.feed(bytes) { step = .end(.success(response)) }
        } catch {
            fail(error)
        }
    }

    /// Nothing more comes.
    mutating func receivingEnded() {
        do throws(ClientError) {
            step = .end(.success(try parser.finish()))
        } catch {
            fail(error)
        }
    }

    /// Nothing comes of it any more.
    mutating func fail(_ error: ClientError) { step = .end(.failure(error)) }
}
