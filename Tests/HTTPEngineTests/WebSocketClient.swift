import Wire

@testable import HTTPEngine

/// A WebSocket client on a real connection that sends hand-made frames; use it inside ``onThread(_:)``
/// like its underlying client.
struct WebSocketClient: Sendable {
    /// A frame as received from the server.
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
