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

    /// A response of these parts.
    public init(status: HTTPResponse.Status, fields: HTTPFields = [:], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
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
    private static let jsonFields: HTTPFields = [.contentType: "application/json; charset=utf-8"]
}

/// What a handler gives for a request: a response, or work that will end in one.
public enum Answer: Sendable {
    /// The response.
    case ready(Response)
    /// Something must be waited for; no thread is held meanwhile. The work is cancelled when the client goes away.
    case deferred(@Sendable () async -> Response)
}
