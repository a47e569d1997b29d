import Wire

@testable import HTTPEngine

/// A WebSocket client that writes every frame by hand; to be used inside ``onThread(_:)`` like the client that it
/// stands on.
struct WebSocketClient: Sendable {
    /// A frame as it came from the server.
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

    /// Connects and shakes hands; `behind` is sent in one write with the handshake.
    init(port: Int, receiveBuffer: Int32? = nil, behind: [UInt8] = []) throws {
        raw = try RawClient(port: port, receiveBuffer: receiveBuffer)
        try raw.send(Array(Self.handshake.utf8) + behind)
        let answer = try raw.read(until: "\r\n\r\n")
        guard answer.hasPrefix("HTTP/1.1 101 "), answer.contains("\r\nConnection: upgrade\r\n"),
            answer.lowercased().contains("\r\nsec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=\r\n")
        else { throw RawClientError.ended(answer) }
    }

    /// A frame of a client, masked.
    static func frame(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
        let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        var bytes: [UInt8] = [(isFinal ? 0x80 : 0) | opcode]
        switch payload.count {
        case ...125: bytes.append(0x80 | UInt8(payload.count))
        case ...0xFFFF: bytes += [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default: bytes += [0xFF] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
        }
        return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    func send(_ opcode: UInt8, _ payload: [UInt8]) throws { try raw.send(Self.frame(opcode, payload)) }

    func send(_ text: String) throws { try send(1, Array(text.utf8)) }

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
