internal import HTTPTypes
package import Wire

extension Request {
    /// How far the content exceeds the limit, as declared by the request: content that is too long is not read.
    package func excess(over limit: Int) -> String {
        let length = fields[.contentLength].flatMap { Int($0) }.map { "\($0) bytes" } ?? "more than that"
        return "the content: found \(length); expected \(limit) bytes at most"
    }
}
