/// A file of requests and of what is expected of their answers, in the syntax of hurl.dev.
///
/// Only the subset that the module's documentation lists is understood; everything else is refused by line and column.
public struct HurlFile: Sendable, Hashable {
    /// The file's name, as people know it.
    public let name: String
    /// The requests, in order.
    public let entries: [HurlEntry]

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - name: The file's name, for complaints and reports.
    ///   - bytes: The content.
    public init(name: String, bytes: [UInt8]) throws(HurlProblem) {
        var reader = try HurlReader(file: name, bytes: bytes)
        self.name = name
        entries = try reader.document()
    }
}

/// One request, and what is expected of its answer.
public struct HurlEntry: Sendable, Hashable {
    /// What the comment right above the request says; empty without one.
    public let remark: String
    /// The request.
    public let request: HurlRequest
    /// What is expected; `nil` where any answer will do.
    public let response: HurlResponse?
}
