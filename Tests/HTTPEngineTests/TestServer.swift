import Testing
import Wire

@testable import HTTPEngine

struct StubHandler: RequestHandler {
    var smallestBodyLimit = 0
    var limit: @Sendable (Request) -> Int = { _ in 1024 }
    var respond: @Sendable (Request) -> Answer = { .ready(.text(StubHandler.describe($0))) }
    var serve: @Sendable (ServerOccupancy) -> Void = { _ in }

    func admit(_ head: Request) -> Admission { Admission(bodyLimit: limit(head), answer: answer) }
    func answer(_ request: Request) -> Answer { respond(request) }
    func willServe(_ occupancy: ServerOccupancy) { serve(occupancy) }

    /// The handler's view of the request on one line.
    static func describe(_ request: Request) -> String {
        let body = request.bodyExceedsLimit ? "too much" : String(decoding: request.body, as: UTF8.self)
        return "\(request.method.rawValue) \(request.target) [\(body)]"
    }

    /// A handler that says when it is asked for `/held` and answers that on a signal, and everything else at once.
    static func holding(_ requested: Signal = Signal(), until released: Signal) -> StubHandler {
        StubHandler(respond: { request in
            guard request.path == "/held" else { return .ready(.text(StubHandler.describe(request))) }
            return .deferred {
                requested.give()
                await released.wait()
                return .text("held")
            }
        })
    }
}

/// The two kinds of connection; where a test covers both, any difference is a fault.
enum Way: CaseIterable, Sendable {
    case clear
    case secure

    /// A listener on a free port.
    func listener() throws -> ServerConfiguration.Listener {
        switch self {
        case .clear: .init(port: 0)
        case .secure: .init(port: 0, identity: try TestAuthority.sharedIdentity.get())
        }
    }
}

extension Limits {
    /// The usual limits with a change.
    static func with(_ change: (inout Limits) -> Void) -> Limits {
        var limits = Limits()
        change(&limits)
        return limits
    }

    /// Limits that no client reaches, for tests whose tasks wait long while other tests keep both cores busy.
    static let patient = Limits.with {
        ($0.idle, $0.header, $0.body) = (.seconds(300), .seconds(300), .seconds(300))
        ($0.write, $0.linger) = (.seconds(300), .seconds(300))
    }
}

/// Starts a server on a free port.
func startServer(
    _ handler: any RequestHandler = StubHandler(), limits: Limits = Limits(), loops: Int = 2, over way: Way = .clear
) throws -> (server: Server, port: Int) {
    let server = try Server(
        ServerConfiguration(listeners: [way.listener()], loops: loops, limits: limits), handler: handler)
    server.start()
    return (server, server.addresses[0].port)
}

/// Starts a server on a free port, runs `body` against it, and stops it.
func withServer<Result: Sendable>(
    _ handler: any RequestHandler = StubHandler(), limits: Limits = Limits(), loops: Int = 2, over way: Way = .clear,
    _ body: (Int) async throws -> Result
) async throws -> Result {
    let (server, port) = try startServer(handler, limits: limits, loops: loops, over: way)
    do {
        let result = try await body(port)
        await server.stop(within: .zero)
        return result
    } catch {
        await server.stop(within: .zero)
        throw error
    }
}

/// Runs `body` on a thread with one client of a new server; `clientWay` is the client's if it is not the listener's.
func withClient<Result: Sendable>(
    _ handler: any RequestHandler = StubHandler(), limits: Limits = Limits(), loops: Int = 2, over way: Way = .clear,
    client clientWay: Way? = nil, receiveBuffer: Int32? = nil, _ body: @escaping @Sendable (RawClient) throws -> Result
) async throws -> Result {
    try await withServer(handler, limits: limits, loops: loops, over: way) { port in
        try await onThread {
            let client = try RawClient(port: port, over: clientWay ?? way, receiveBuffer: receiveBuffer)
            defer { client.close() }
            return try body(client)
        }
    }
}

/// Everything that a client receives which sends the text, ends its side if it is finished, and reads to the end.
func answers(
    to text: String, _ handler: any RequestHandler = StubHandler(), limits: Limits = Limits(), over way: Way = .clear,
    client clientWay: Way? = nil, isFinished: Bool = false
) async throws -> String {
    try await withClient(handler, limits: limits, over: way, client: clientWay) { client in
        try client.send(text)
        if isFinished { client.finishSending() }
        return try client.readToEnd()
    }
}

/// The contents of answers behind one another.
func contents(_ answers: String) -> [String] {
    answers.split(separator: "HTTP/1.1 ").compactMap { answer in
        answer.firstRange(of: "\r\n\r\n").map { String(answer[$0.upperBound...]) }
    }
}

/// A signal that one side gives and the other waits for, in either order.
struct Signal: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func give() {
        continuation.yield()
        continuation.finish()
    }

    func wait() async { for await _ in stream { return } }
}

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A client on a blocking socket that sends exactly the given bytes and reads the answers.
///
/// Use it inside ``onThread(_:)``: the pool that runs tests must also run the answers that tests wait for.
struct RawClient: Sendable {
    private let socket: Socket
    // A test's threads take turns using the client.
    nonisolated(unsafe) private let session: TLSSession?
    private var descriptor: Int32 { socket.descriptor }

    /// Connects to a port of this machine.
    init(port: Int, over way: Way = .clear, receiveBuffer: Int32? = nil) throws {
        guard let address = SocketAddress.resolve(host: "127.0.0.1", port: port).first,
            let socket = Socket(family: address.family)
        else { throw RawClientError.noSocket }
        self.socket = socket
        session = way == .clear ? nil : TLSSession(socket, trust: try TestAuthority.trust(), host: "localhost")
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        // No test waits that long, even on a busy machine; a hanging test cannot block a build.
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        guard address.withPointer({ connect(descriptor, $0, $1) }) == 0 else { throw RawClientError.refused }
    }

    /// The descriptor of the server's end, which is in this process too.
    func serverDescriptor() throws -> Int32 {
        let mine = try #require(RawClient.port(descriptor, getsockname))
        return try #require((3..<20_000).first { RawClient.port($0, getpeername) == mine })
    }

    private static func port(
        _ descriptor: Int32,
        _ name: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> in_port_t? {
        var (address, length) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        let outcome = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(descriptor, $0, &length) }
        }
        return outcome == 0 && address.sin_family == sa_family_t(AF_INET) ? address.sin_port : nil
    }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            switch rest.withUnsafeBytes(session?.write ?? socket.write) {
            case .moved(let count): rest = rest.dropFirst(count)
            case .wouldBlock: throw RawClientError.silent
            case .ended, .broken: throw RawClientError.broken
            }
        }
    }

    /// Ends the client's direction; answers can still be read.
    func finishSending() { if session?.finishWriting() == nil { socket.shutdownWriting() } }

    func read(until end: String) throws -> String {
        var text = ""
        while !text.utf8.reversed().starts(with: end.utf8.reversed()) {
            guard let part = try readSome(1) else { throw RawClientError.ended(text) }
            text += part
        }
        return text
    }

    /// Reads one answer: its head and the announced amount of content.
    func readAnswer() throws -> String {
        let head = try read(until: "\r\n\r\n")
        let length = head.split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
        var rest = length.flatMap { Int($0.dropFirst(16)) } ?? 0
        var text = head
        while rest > 0 {
            guard let part = try readSome(rest) else { throw RawClientError.ended(text) }
            rest -= part.utf8.count
            text += part
        }
        return text
    }

    /// Asks for a path and reads the answer.
    func get(_ path: String) throws -> String {
        try send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        return try readAnswer()
    }

    func readToEnd() throws -> String {
        var text = ""
        while let part = try readSome(65_536) { text += part }
        return text
    }

    func readBytes(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard let part = try readSomeBytes(count - bytes.count) else { throw RawClientError.ended("\(bytes)") }
            bytes += part
        }
        return bytes
    }

    func readBytesToEnd() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let part = try readSomeBytes(65_536) { bytes += part }
        return bytes
    }

    /// Waits until the server has cut off the connection, and counts the bytes that had arrived by then.
    ///
    /// It reads nothing before that, so that the server cannot send more.
    func countAfterCutOff() throws -> Int {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        guard poll(&entry, 1, 120_000) > 0 else { throw RawClientError.noSocket }
        var count = 0
        while let part = try? readSome(65_536) { count += part.utf8.count }
        return count
    }

    /// Closes so that the server sees a broken connection, as when a client crashes.
    func reset() {
        session?.discardUnsent()
        socket.discardUnsent()
        close()
    }

    func close() { session?.close() ?? socket.close() }

    /// `nil` at the end of the connection. Tests that read text send only ASCII, so no character is split.
    private func readSome(_ count: Int) throws -> String? {
        try readSomeBytes(count).map { String(decoding: $0, as: UTF8.self) }
    }

    private func readSomeBytes(_ count: Int) throws -> ArraySlice<UInt8>? {
        var bytes = [UInt8](repeating: 0, count: count)
        switch bytes.withUnsafeMutableBytes(session?.read ?? socket.read) {
        case .moved(let count): return bytes.prefix(count)
        case .ended: return nil
        case .wouldBlock: throw RawClientError.silent
        case .broken: throw RawClientError.broken
        }
    }
}

enum RawClientError: Error, Equatable {
    case noSocket
    case refused
    case broken
    /// The server neither sent nor took anything within the limit.
    case silent
    case ended(String)
}

/// Runs blocking work on a separate thread.
func onThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        let isRunning = OperatingSystem.startThread { continuation.resume(with: Swift.Result { try work() }) }
        if !isRunning { continuation.resume(throwing: RawClientError.noSocket) }
    }
}
