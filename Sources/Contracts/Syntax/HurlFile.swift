/// Requests and the answers they expect, in the syntax of hurl.dev.
///
/// Only the subset that the module's documentation lists is supported; everything else is rejected with line and
/// column.
public struct HurlFile: Sendable, Hashable {
    /// The file's name for messages.
    public let name: String
    /// The requests, in order.
    public let entries: [HurlEntry]

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - name: The file's name, for messages and reports.
    ///   - bytes: The content.
    public init(name: String, bytes: [UInt8]) throws(HurlProblem) {
        var reader = try HurlReader(file: name, bytes: bytes)
        self.name = name
        entries = try reader.document()
    }
}

/// One request, and the answer it expects.
public struct HurlEntry: Sendable, Hashable {
    /// The comment directly above the request; empty without one.
    public let remark: String
    /// The request.
    public let request: HurlRequest
    /// The expected answer; `nil` accepts any.
    public let response: HurlResponse?
}
