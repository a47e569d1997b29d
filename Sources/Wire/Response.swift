public import HTTPTypes
public import JSON

/// A response, complete with its content.
///
/// The engine adds what framing needs: `Date`, `Content-Length`, `Connection`.
public struct Response: Sendable {
    public var status: HTTPResponse.Status
    /// The fields, except those that the engine adds.
    public var fields: HTTPFields
    public var body: [UInt8]
    /// Nearly all responses are plain, so they need only this one word.
    private var special: Special?

    /// A response with these parts.
    ///
    /// For status 101 use ``webSocket(_:fields:)``.
    public init(status: HTTPResponse.Status, fields: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// How the response goes over the wire.
    public var transmission: Transmission {
        get { special?.transmission ?? .plain }
        set { special = Special(newValue, special?.upgrade) }
    }

    /// The WebSocket that the response opens.
    public var upgrade: WebSocketUpgrade? { special?.upgrade }

    /// The response without its upgrade, so that it can outlive the connection.
    public var withoutUpgrade: Response {
        guard let special, special.upgrade != nil else { return self }
        var response = self
        response.special = Special(special.transmission, nil)
        return response
    }

    /// Whether the response is sent at once, complete, and opens no WebSocket.
    public var isPlain: Bool { special == nil }

    /// The response that accepts a handshake; the engine adds the fields that RFC 6455 section 4.2.2 requires.
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

    /// What a page of a vendor's own consists of.
    package enum PagePart: String, Sendable {
        case document = "text/html; charset=utf-8"
        case style = "text/css; charset=utf-8"
    }

    /// A part of a page that the vendor itself has made.
    ///
    /// - Parameter policy: the value of `Content-Security-Policy`. The page has the origin of the control API, so the
    ///   policy must let no script run but the vendor's own (decision 0013).
    package static func page(
        _ part: PagePart, _ body: [UInt8], policy: String, status: HTTPResponse.Status = .ok
    ) -> Response {
        Response(
            status: status,
            fields: [
                .contentType: part.rawValue, .contentSecurityPolicy: policy, .xContentTypeOptions: "nosniff",
            ], body: body)
    }

    /// A response without content.
    public static func empty(_ status: HTTPResponse.Status = .noContent) -> Response { Response(status: status) }

    private static let textFields: HTTPFields = [.contentType: "text/plain; charset=utf-8"]
    static let jsonFields: HTTPFields = [.contentType: "application/json; charset=utf-8"]
}

/// The rare parts of a response, in an object so that other responses need no room for them.
private final class Special: Sendable {
    let transmission: Transmission
    let upgrade: WebSocketUpgrade?

    /// Fails when nothing is special.
    init?(_ transmission: Transmission, _ upgrade: WebSocketUpgrade?) {
        guard transmission != .plain || upgrade != nil else { return nil }
        self.transmission = transmission
        self.upgrade = upgrade
    }
}

/// A handler's answer: a response, or work that produces one.
public enum Answer: Sendable {
    case ready(Response)
    /// Work that must wait, which holds no thread meanwhile. It is cancelled when the connection breaks or the server
    /// stops.
    case deferred(@Sendable () async -> Response)
}
