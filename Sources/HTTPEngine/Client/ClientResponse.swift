package import HTTPTypes
package import Wire

/// The answer to a request of ``HTTPClient``.
package struct ClientResponse: Sendable {
    package let status: HTTPResponse.Status
    package let fields: FieldLines
    /// The content, transfer coding removed.
    package let body: [UInt8]
}
