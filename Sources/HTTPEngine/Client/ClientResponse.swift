public import HTTPTypes
public import Wire

/// The answer to a request of ``HTTPClient``.
public struct ClientResponse: Sendable {
    /// The status.
    public let status: HTTPResponse.Status
    /// The field lines.
    public let fields: FieldLines
    /// The content, transfer coding removed.
    public let body: [UInt8]
}
