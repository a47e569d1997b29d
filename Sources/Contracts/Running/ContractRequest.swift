package import HTTPTypes

/// A case's request with its variables replaced.
package struct ContractRequest: Sendable, Hashable {
    package let method: HTTPRequest.Method
    /// The absolute URL.
    package let url: String
    /// The fields, except those for framing, which the sender adds.
    package let fields: HTTPFields
    package let body: [UInt8]

    package init(method: HTTPRequest.Method, url: String, fields: HTTPFields = [:], body: [UInt8] = []) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }
}
