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
        set { special = Special(newValue, special?.upgrade, special?.date) }
    }

    /// The time that `Date` shows, in seconds since 1970; `nil` for the machine's.
    public var date: Int? {
        get { special?.date }
        set { special = Special(special?.transmission ?? .plain, special?.upgrade, newValue) }
    }

    public var upgrade: WebSocketUpgrade? { special?.upgrade }

    /// The response without its upgrade, so that it can outlive the connection.
    public var withoutUpgrade: Response {
        guard let special, special.upgrade != nil else { return self }
        var response = self
        response.special = Special(special.transmission, nil, special.date)
        return response
    }

    /// Whether the response is sent at once, complete, with the machine's time, and opens no WebSocket.
    public var isPlain: Bool { special == nil }

    /// The response that accepts a handshake; the engine adds the fields that RFC 6455 section 4.2.2 requires.
    public static func webSocket(_ upgrade: WebSocketUpgrade, fields: HTTPFields = [:]) -> Response {
        var response = Response(status: .switchingProtocols, fields: fields)
        response.special = Special(.plain, upgrade, nil)
        return response
    }

    /// A response with compact JSON and `Content-Type: application/json; charset=utf-8`.
    public static func json(_ value: JSON, status: HTTPResponse.Status = .ok) -> Response {
        Response(status: status, fields: jsonFields, body: value.bytes)
    }

    /// The response with one more field.
    package func with(_ name: HTTPField.Name, _ value: String) -> Response {
        var response = self
        response.fields[name] = value
        return response
    }

    /// A response with text and `Content-Type: text/plain; charset=utf-8`.
    public static func text(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(status: status, fields: textFields, body: Array(text.utf8))
    }

    /// A part of a vendor's own page.
    package enum PagePart: String, Sendable {
        case document = "text/html; charset=utf-8"
        case style = "text/css; charset=utf-8"
    }

    /// Answers with a part of a page that the vendor itself has made.
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

    public static func empty(_ status: HTTPResponse.Status = .noContent) -> Response { Response(status: status) }

    /// The answer to a browser that asks whether a page may make calls (Fetch standard, CORS protocol).
    ///
    /// - Parameter fields: those that a page may send; listed, since `*` does not cover `authorization`.
    package static func preflight(methods: String, fields: String) -> Response {
        Response(
            status: .noContent,
            fields: [
                .accessControlAllowMethods: methods, .accessControlAllowHeaders: fields, .accessControlMaxAge: "600",
            ])
    }

    private static let textFields: HTTPFields = [.contentType: "text/plain; charset=utf-8"]
    static let jsonFields: HTTPFields = [.contentType: "application/json; charset=utf-8"]
}

/// The rare parts of a response, in an object so that other responses need no room for them.
private final class Special: Sendable {
    let transmission: Transmission
    let upgrade: WebSocketUpgrade?
    let date: Int?

    /// Fails when nothing is special.
    init?(_ transmission: Transmission, _ upgrade: WebSocketUpgrade?, _ date: Int?) {
        guard transmission != .plain || upgrade != nil || date != nil else { return nil }
        (self.transmission, self.upgrade, self.date) = (transmission, upgrade, date)
    }
}

/// A handler's answer: a response, or work that produces one.
public enum Answer: Sendable {
    case ready(Response)
    /// Work that must wait, which holds no thread meanwhile. It is cancelled when the connection breaks or the server
    /// stops.
    case deferred(@Sendable () async -> Response)
}

// Fields that keep browsers from letting other pages use the answer.
extension HTTPField.Name {
    fileprivate static let frameOptions = Self("X-Frame-Options") ?? .contentSecurityPolicy
}

extension Response {
    /// Bytes that a client sent, returned under the media type that the client named.
    ///
    /// A page made of them would have this server's origin and could read everything there. So a browser saves them
    /// when it navigates to them, runs nothing, and does not guess another type. Images, fonts and fetches by scripts
    /// work as usual.
    public static func clientContent(_ bytes: [UInt8], type: String) -> Response {
        var response = Response(status: .ok, fields: clientContentFields, body: bytes)
        response.fields[.contentType] = type
        return response
    }

    private static let clientContentFields: HTTPFields = [
        .contentType: "", .xContentTypeOptions: "nosniff",
        .contentSecurityPolicy: "sandbox; default-src 'none'; frame-ancestors 'none'", .frameOptions: "DENY",
        .contentDisposition: "attachment",
    ]

    /// Forbids pages to frame the response.
    ///
    /// A response that already says who may frame it stays as it is.
    public mutating func refuseFrames() {
        if fields[.contentSecurityPolicy]?.contains("frame-ancestors") == true { return }
        fields[.frameOptions] = "DENY"
        if fields[.contentSecurityPolicy] == nil { fields[.contentSecurityPolicy] = "frame-ancestors 'none'" }
    }

    /// Closes the response to pages of other origins, and keeps it from acting as a page itself.
    ///
    /// A response that is meant to be a page brings its own `Content-Security-Policy`, which is kept.
    public mutating func closeToPages() {
        // Nearly all responses here are JSON and share their fields.
        guard fields != Self.jsonFields else { return fields = Self.closedJSONFields }
        for field in Self.closingFields where fields[field.name] == nil { fields.append(field) }
    }

    private static let closingFields: HTTPFields = [
        .xContentTypeOptions: "nosniff", .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        .frameOptions: "DENY", .crossOriginResourcePolicy: "same-origin",
    ]

    private static let closedJSONFields: HTTPFields = {
        var fields = jsonFields
        fields.append(contentsOf: closingFields)
        return fields
    }()
}

/// How a response goes over the wire: at once and complete by default.
///
/// Describes bad networks and failing proxies as a value, so that the engine can apply them to any response without
/// holding a thread.
public struct Transmission: Sendable, Hashable {
    /// A fault during sending.
    public enum Fault: Sendable, Hashable {
        /// Resets the TCP connection instead of answering; over TLS without `close_notify`.
        ///
        /// A reset also discards what the client has not yet read of earlier answers.
        case reset
        /// Closes the connection cleanly without sending anything.
        case empty
        /// Sends the head and that many bytes of the content, then closes the connection.
        case truncated(bytes: Int)
        /// Sends bytes that are not HTTP instead of the answer, then closes the connection.
        case garbage
        /// Sends the answer in chunks of that many bytes, at least a millisecond apart; the first goes at once.
        ///
        /// An answer that opens a WebSocket is too short for this and is sent whole.
        case drip(bytes: Int, every: Duration)
    }

    /// How long the complete response waits before it is sent.
    public var delay: Duration
    public var fault: Fault?

    public init(delay: Duration = .zero, fault: Fault? = nil) {
        self.delay = delay
        self.fault = fault
    }

    /// At once and whole.
    public static let plain = Transmission()
}

extension HTTPResponse.Status {
    /// The status with the reason phrase of RFC 9110 section 15, RFC 6585 or RFC 4918, if they define one.
    public init(standard code: Int) { self = Self.named.first { $0.code == code } ?? Self(code: code) }

    private static let named: [Self] = [
        .ok, .created, .accepted, .noContent, .movedPermanently, .found, .seeOther, .notModified, .temporaryRedirect,
        .permanentRedirect, .badRequest, .unauthorized, Self(code: 402, reasonPhrase: "Payment Required"), .forbidden,
        .notFound, .methodNotAllowed, .notAcceptable, .requestTimeout, .conflict, .gone, .lengthRequired,
        .preconditionFailed, .contentTooLarge, .uriTooLong, .unsupportedMediaType, .unprocessableContent,
        .preconditionRequired, .tooManyRequests, .internalServerError, .notImplemented, .badGateway,
        .serviceUnavailable, .gatewayTimeout,
    ]
}
