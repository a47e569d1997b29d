/// Requests and the answers they expect, in the syntax of hurl.dev.
///
/// Only the subset that the module's documentation lists is supported; everything else is rejected with line and
/// column.
package struct HurlFile: Sendable, Hashable {
    package let name: String
    /// The requests, in order.
    package let entries: [HurlEntry]

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - name: The file's name, for messages and reports.
    ///   - bytes: The content.
    package init(name: String, bytes: [UInt8]) throws(HurlProblem) {
        var reader = try HurlReader(file: name, bytes: bytes)
        self.name = name
        entries = try reader.document()
    }
}

/// One request, and the answer it expects.
package struct HurlEntry: Sendable, Hashable {
    /// The comment directly above the request; empty without one.
    package let remark: String
    package let request: HurlRequest
    /// The expected answer; `nil` accepts any.
    package let response: HurlResponse?
}
