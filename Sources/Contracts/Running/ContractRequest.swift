public import HTTPTypes

/// A request of a case, variables replaced.
public struct ContractRequest: Sendable, Hashable {
    /// The method.
    public let method: HTTPRequest.Method
    /// The absolute URL.
    public let url: String
    /// The fields; those that framing needs are the sender's.
    public let fields: HTTPFields
    /// The content.
    public let body: [UInt8]

    /// A request of these parts.
    public init(method: HTTPRequest.Method, url: String, fields: HTTPFields = [:], body: [UInt8] = []) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }
}
