internal import HTTPTypes

/// A valid opening handshake of a client (RFC 6455 section 4.2.1).
///
/// Only valid ones can be created, so nothing else can be accepted.
public struct WebSocketHandshake: Sendable, Hashable {
    /// Why a request does not open a WebSocket, in the order of the checks.
    package enum Problem: Error, Hashable, CaseIterable {
        /// `Upgrade` lacks `websocket`, or `Connection` lacks `upgrade`.
        case notOffered
        case notGet
        /// The version is HTTP/1.0.
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
