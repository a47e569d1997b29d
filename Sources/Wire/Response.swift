public import HTTPTypes
public import JSON

/// A response, complete with its content.
///
/// The engine adds what framing needs: `Date`, `Content-Length`, `Connection`.
public struct Response: Sendable {
    /// The status.
    public var status: HTTPResponse.Status
    /// The fields, without those that the engine adds.
    public var fields: HTTPFields
    /// The content.
    public var body: [UInt8]
    /// Nearly all responses are sent as they are and open nothing; they share this one word.
    private var special: Special?

    /// A response of these parts.
    ///
    /// A status of 101 belongs to ``webSocket(_:fields:)``, which has something to switch to.
    public init(status: HTTPResponse.Status, fields: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// How the response is put on the wire.
    public var transmission: Transmission {
        get { special?.transmission ?? .plain }
        set { special = Special(newValue, special?.upgrade) }
    }

    /// The WebSocket that opens behind this response.
    public var upgrade: WebSocketUpgrade? { special?.upgrade }

    /// Whether the response goes out at once, whole, and opens nothing.
    public var isPlain: Bool { special == nil }

    /// The response that accepts a handshake: the engine adds the fields that RFC 6455 section 4.2.2 asks for.
    public static func webSocket(_ upgrade: WebSocketUpgrade, fields: HTTPFields = [:]) -> Response {
        var response = Response(status: .switchingProtocols, fields: fields)
        response.special = Special(.plain, upgrade)
        return response
    }

    /// A response with compact JSON and `Content-Type: application/json; charset=utf-8`.
    public static func json(_ value: JSON, status: HTTPResponse.Status = .ok) -> Response {
        Response(status: status, fields: jsonFields, body: value.bytes)
    }

    /// A response with text and `Content-Type: text/plain; charset=utf-8`.
    public static func text(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(status: status, fields: textFields, body: Array(text.utf8))
    }

    /// A response without content.
    public static func empty(_ status: HTTPResponse.Status = .noContent) -> Response { Response(status: status) }

    private static let textFields: HTTPFields = [.contentType: "text/plain; charset=utf-8"]
    static let jsonFields: HTTPFields = [.contentType: "application/json; charset=utf-8"]
}

/// What few responses have, in an object so that the others need no room for it.
private final class Special: Sendable {
    let transmission: Transmission
    let upgrade: WebSocketUpgrade?

    /// `nil` when there is nothing special.
    init?(_ transmission: Transmission, _ upgrade: WebSocketUpgrade?) {
        guard transmission != .plain || upgrade != nil else { return nil }
        self.transmission = transmission
        self.upgrade = upgrade
    }
}

/// What a handler gives for a request: a response, or work that will end in one.
public enum Answer: Sendable {
    /// The response.
    case ready(Response)
    /// Something must be waited for; no thread is held meanwhile. The work is cancelled when the
    /// connection breaks or the server stops.
    case deferred(@Sendable () async -> Response)
}
