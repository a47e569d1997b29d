/// A complete, valid message of a WebSocket (RFC 6455 section 5.6).
public enum WebSocketMessage: Sendable, Hashable {
    /// Text; received text is valid UTF-8.
    case text(String)
    case binary([UInt8])
}

/// Why a WebSocket ended (RFC 6455 section 7.4).
public struct WebSocketClosure: Sendable, Hashable {
    /// A close code.
    package struct Code: RawRepresentable, Sendable, Hashable {
        package let rawValue: UInt16

        /// The code with that number.
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
        /// The message is too large.
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
