import Synchronization
import Wire

/// A WebSocket handler that records events and echoes each message.
final class Echo: WebSocketHandler {
    enum Event: Equatable {
        case opened
        case received(WebSocketMessage)
        case closed(WebSocketClosure)
    }

    let greeting: String?
    let ended = Signal()
    private let state = Mutex((events: [Event](), sockets: [WebSocket]()))

    init(greeting: String? = nil) { self.greeting = greeting }

    var events: [Event] { state.withLock { $0.events } }
    var sockets: [WebSocket] { state.withLock { $0.sockets } }

    func opened(_ socket: WebSocket) {
        state.withLock {
            $0.events.append(.opened)
            $0.sockets.append(socket)
        }
        if let greeting { socket.send(.text(greeting)) }
    }

    func received(_ message: WebSocketMessage, on socket: WebSocket) {
        state.withLock { $0.events.append(.received(message)) }
        socket.send(message)
    }

    func closed(_ socket: WebSocket, _ closure: WebSocketClosure) {
        state.withLock { $0.events.append(.closed(closure)) }
        ended.give()
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

    /// Frames behind one another.
    static func all(_ frames: [UInt8]...) -> [UInt8] { Array(frames.joined()) }

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

    /// Connects and shakes hands.
    init(port: Int, over way: Way = .clear, receiveBuffer: Int32? = nil) throws {
        raw = try RawClient(port: port, over: way, receiveBuffer: receiveBuffer)
        try raw.send(Self.handshake)
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
