public import HTTPTypes

/// A case's request with its variables replaced.
public struct ContractRequest: Sendable, Hashable {
    /// The method.
    public let method: HTTPRequest.Method
    /// The absolute URL.
    public let url: String
    /// The fields, except those for framing, which the sender adds.
    public let fields: HTTPFields
    /// The content.
    public let body: [UInt8]

    /// A request with these parts.
    public init(method: HTTPRequest.Method, url: String, fields: HTTPFields = [:], body: [UInt8] = []) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }
}
