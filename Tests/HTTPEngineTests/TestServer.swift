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
    /// Limits that no client reaches, for tests whose tasks wait long while other tests keep both cores busy.
    static var patient: Limits {
        var limits = Limits()
        (limits.idle, limits.header, limits.body) = (.seconds(300), .seconds(300), .seconds(300))
        (limits.write, limits.linger) = (.seconds(300), .seconds(300))
        return limits
    }
}

/// Starts a server on a free port, runs `body` against it, and stops it.
func withServer<Result: Sendable>(
    _ handler: StubHandler = StubHandler(), limits: Limits = Limits(), loops: Int = 2, over way: Way = .clear,
    _ body: (Int) async throws -> Result
) async throws -> Result {
    let server = try Server(
        ServerConfiguration(listeners: [way.listener()], loops: loops, limits: limits), handler: handler)
    server.start()
    do {
        let result = try await body(server.addresses[0].port)
        await server.stop(within: .seconds(0))
        return result
    } catch {
        await server.stop(within: .seconds(0))
        throw error
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

/// A handler that ignores all events.
struct NobodyListens: WebSocketHandler {
    func opened(_ socket: WebSocket) {}
    func received(_ message: WebSocketMessage, on socket: WebSocket) {}
    func closed(_ socket: WebSocket, _ closure: WebSocketClosure) {}
}

/// The bytes of frames as a client writes them, valid and invalid.
enum ClientFrame {
    /// The key of the samples in RFC 6455 section 5.7.
    static let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

    /// A frame whose first byte is `first`: the final bit, three reserved bits and the opcode.
    ///
    /// The length uses the fewest bytes; `length` replaces those bytes, without the mask bit.
    static func bytes(
        _ first: UInt8, _ payload: some Sequence<UInt8> = [], length: [UInt8]? = nil, key: [UInt8] = key
    ) -> [UInt8] {
        let payload = Array(payload)
        var bytes = [first] + (length ?? shortest(payload.count))
        bytes[1] |= 0x80
        return bytes + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
    }

    static func text(_ text: String) -> [UInt8] { bytes(0x81, text.utf8) }

    static func close(_ code: UInt16, _ reason: some Sequence<UInt8> = []) -> [UInt8] {
        bytes(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)] + reason)
    }

    private static func shortest(_ count: Int) -> [UInt8] {
        switch count {
        case ...125: [UInt8(count)]
        case ...0xFFFF: [126] + bigEndian(count, 2)
        default: [127] + bigEndian(count, 8)
        }
    }

    /// The lowest bytes of a number, most significant first.
    static func bigEndian(_ number: Int, _ byteCount: Int) -> [UInt8] {
        (0..<byteCount).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}

/// A WebSocket client on a real connection that sends hand-made frames; use it inside ``onThread(_:)``
/// like its underlying client.
struct WebSocketClient: Sendable {
    struct Frame: Equatable {
        let opcode: UInt8
        let payload: [UInt8]

        static func text(_ text: String) -> Frame { Frame(opcode: 1, payload: Array(text.utf8)) }

        static func close(_ code: UInt16, _ reason: String = "") -> Frame {
            Frame(opcode: 8, payload: [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
        }
    }

    static let handshake = """
        GET /socket HTTP/1.1\r
        Host: a\r
        Upgrade: websocket\r
        Connection: keep-alive, Upgrade\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        \r

        """

    let raw: RawClient

    /// Connects and shakes hands; `behind` is sent in the same write as the handshake.
    init(port: Int, over way: Way = .clear, receiveBuffer: Int32? = nil, behind: [UInt8] = []) throws {
        raw = try RawClient(port: port, over: way, receiveBuffer: receiveBuffer)
        try raw.send(Array(Self.handshake.utf8) + behind)
        let answer = try raw.read(until: "\r\n\r\n")
        guard answer.hasPrefix("HTTP/1.1 101 "), answer.contains("\r\nConnection: upgrade\r\n"),
            answer.lowercased().contains("\r\nsec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=\r\n")
        else { throw RawClientError.ended(answer) }
    }

    func send(_ frame: [UInt8]) throws { try raw.send(frame) }

    func send(_ text: String) throws { try send(ClientFrame.text(text)) }

    func read() throws -> Frame {
        let head = try raw.readBytes(2)
        let length: Int
        switch head[1] {
        case 126: length = try raw.readBytes(2).reduce(0) { $0 << 8 | Int($1) }
        case 127: length = try raw.readBytes(8).reduce(0) { $0 << 8 | Int($1) }
        default: length = Int(head[1])
        }
        return Frame(opcode: head[0] & 0x0F, payload: try raw.readBytes(length))
    }

    func close() { raw.close() }
}
