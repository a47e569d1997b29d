internal import HTTPTypes

/// The server's end of an open WebSocket. Thread-safe; no call blocks.
public struct WebSocket: Sendable {
    /// The transport of the frames: a connection of the engine, or a test's memory.
    public protocol Channel: AnyObject, Sendable {
        /// Queues a message after those sent before.
        func send(_ message: WebSocketMessage)
        /// Queues a close frame, and ends the connection after the client's close frame.
        func close(_ closure: WebSocketClosure)
    }

    private let channel: any Channel

    public init(_ channel: any Channel) { self.channel = channel }

    /// Sends a message; messages arrive in the order of the calls.
    ///
    /// A client that reads too slowly is closed with code 1013. After the end the call does nothing.
    public func send(_ message: WebSocketMessage) { channel.send(message) }

    /// Starts the closing handshake; further calls do nothing.
    public func close(_ closure: WebSocketClosure) { channel.close(closure) }
}

extension WebSocket: Identifiable, Hashable {
    /// The identity of this WebSocket among the open ones.
    public var id: ObjectIdentifier { ObjectIdentifier(channel) }

    /// Whether both are the same end of the same connection.
    public static func == (left: WebSocket, right: WebSocket) -> Bool { left.id == right.id }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// Handles a WebSocket's events. Calls are serialized and must not block.
public protocol WebSocketHandler: Sendable {
    /// The handshake was answered; always the first call.
    func opened(_ socket: WebSocket)
    /// The client sent a message.
    func received(_ message: WebSocketMessage, on socket: WebSocket)
    /// The connection ended, from either side; always the last call.
    func closed(_ socket: WebSocket, _ closure: WebSocketClosure)
}

/// A complete, valid message of a WebSocket (RFC 6455 section 5.6).
public enum WebSocketMessage: Sendable, Hashable {
    /// Text; received text is valid UTF-8.
    case text(String)
    case binary([UInt8])

    /// The length of its content in bytes.
    package var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}

/// Why a WebSocket ended (RFC 6455 section 7.4).
public struct WebSocketClosure: Sendable, Hashable {
    package struct Code: RawRepresentable, Sendable, Hashable {
        package let rawValue: UInt16

        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// The connection has served its purpose.
        package static let normal = Code(rawValue: 1000)
        /// The server shuts down, or gives up on a silent client.
        package static let goingAway = Code(rawValue: 1001)
        /// The peer violates RFC 6455.
        package static let protocolError = Code(rawValue: 1002)
        /// The kind of message is not accepted.
        package static let unsupportedData = Code(rawValue: 1003)
        /// A close frame came without a code; never sent.
        package static let noStatus = Code(rawValue: 1005)
        /// The connection ended without a close frame; never sent.
        package static let abnormal = Code(rawValue: 1006)
        /// A text is not UTF-8.
        package static let invalidPayload = Code(rawValue: 1007)
        package static let policyViolation = Code(rawValue: 1008)
        package static let messageTooBig = Code(rawValue: 1009)
        /// An unexpected condition on the server.
        package static let internalError = Code(rawValue: 1011)
        /// The client reads too slowly for the server's buffers, and may reconnect (registered with IANA).
        package static let tryAgainLater = Code(rawValue: 1013)
    }

    package var code: Code
    /// The reason. At most 123 bytes of UTF-8 are sent, and none with a code that no close frame may carry.
    package var reason: String

    package init(_ code: Code, reason: String = "") {
        self.code = code
        self.reason = reason
    }
}

/// An accepted handshake, with everything that its WebSocket needs.
public struct WebSocketUpgrade: Sendable {
    package let handshake: WebSocketHandshake
    /// The receiver of the WebSocket's events.
    package let handler: any WebSocketHandler
    /// The subprotocol chosen from the offered ones.
    package var subprotocol: String?
    /// The largest accepted message in bytes; a larger one closes the WebSocket with 1009.
    package var maximumMessageBytes: Int
    /// How long the client may stay silent before the server closes with 1001.
    package var silence: Duration

    package init(
        _ handshake: WebSocketHandshake, handler: any WebSocketHandler, subprotocol: String? = nil,
        maximumMessageBytes: Int = 64 * 1024, silence: Duration = .seconds(600)
    ) {
        self.handshake = handshake
        self.handler = handler
        self.subprotocol = subprotocol
        self.maximumMessageBytes = maximumMessageBytes
        self.silence = silence
    }
}

/// A valid opening handshake of a client (RFC 6455 section 4.2.1).
///
/// Only valid ones can be created, so nothing else can be accepted.
public struct WebSocketHandshake: Sendable, Hashable {
    /// Why a request does not open a WebSocket, in the order of the checks.
    package enum Problem: Error, Hashable, CaseIterable {
        /// `Upgrade` lacks `websocket`, or `Connection` lacks `upgrade`.
        case notOffered
        case notGet
        case oldHTTP
        case hasContent
        /// `Sec-WebSocket-Version` is not 13.
        case unsupportedVersion
        /// `Sec-WebSocket-Key` does not occur exactly once with 16 bytes in base64.
        case invalidKey
    }

    /// `Sec-WebSocket-Key` as sent.
    package let key: String
    /// The subprotocols that the client offers, in order of preference.
    package let subprotocols: [String]

    package init(_ request: Request) throws(Problem) {
        guard Self.isOffered(in: request.fields) else { throw .notOffered }
        guard request.method == .get else { throw .notGet }
        guard request.version == .http1_1 else { throw .oldHTTP }
        guard request.body.isEmpty, !request.bodyExceedsLimit else { throw .hasContent }
        guard request.fields.values(of: .secWebSocketVersion) == ["13"] else { throw .unsupportedVersion }
        let keys = request.fields.values(of: .secWebSocketKey)
        guard keys.count == 1, Self.isKey(keys[0]) else { throw .invalidKey }
        key = keys[0]
        subprotocols = request.fields.elements(of: .secWebSocketProtocol)
    }

    private static func isOffered(in fields: FieldLines) -> Bool {
        fields.elements(of: .upgrade).contains { isToken($0, "websocket") }
            && fields.elements(of: .connection).contains { isToken($0, "upgrade") }
    }

    /// Compares case-insensitively with a lowercase token.
    ///
    /// By bytes: as a character, the Kelvin sign lowercases to `k`.
    private static func isToken(_ text: String, _ token: String) -> Bool {
        text.utf8.count == token.utf8.count && zip(text.utf8, token.utf8).allSatisfy { $0 | 0x20 == $1 }
    }

    /// 16 bytes are 22 characters of base64, the last with two data bits and four zero bits, and two of padding.
    private static func isKey(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == 24, bytes[22] == UInt8(ascii: "="), bytes[23] == UInt8(ascii: "=") else { return false }
        return bytes[..<22].allSatisfy(base64.contains) && "AQgw".utf8.contains(bytes[21])
    }

    private static let base64 = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}

extension WebSocketHandshake.Problem: CustomStringConvertible {
    /// What was found and what was expected.
    package var description: String {
        switch self {
        case .notOffered: "found no Upgrade to websocket; expected Upgrade: websocket and Connection: Upgrade"
        case .notGet: "found another method; expected GET"
        case .oldHTTP: "found HTTP/1.0; expected HTTP/1.1"
        case .hasContent: "found content; expected a request without any"
        case .unsupportedVersion: "found no Sec-WebSocket-Version 13, or others too; expected exactly that one"
        case .invalidKey: "found no usable Sec-WebSocket-Key; expected it once, 16 bytes in base64"
        }
    }

    /// The answer that RFC 6455 and RFC 9110 prescribe; a vendor may have its own.
    package var response: Response {
        switch self {
        case .notOffered: Response(status: .upgradeRequired, fields: [.upgrade: "websocket"])
        case .unsupportedVersion:
            Response(
                status: .upgradeRequired,
                fields: [.upgrade: "websocket", .secWebSocketVersion: "13"])
        case .notGet, .oldHTTP, .hasContent, .invalidKey: Response(status: .badRequest)
        }
    }
}
