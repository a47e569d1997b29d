package import HTTPTypes
package import Wire

/// The answer to a request of ``HTTPClient``.
package struct ClientResponse: Sendable {
    /// The status.
    package let status: HTTPResponse.Status
    /// The field lines.
    package let fields: FieldLines
    /// The content, transfer coding removed.
    package let body: [UInt8]
}
