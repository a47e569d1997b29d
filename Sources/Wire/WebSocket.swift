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

    /// A WebSocket over this channel.
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
