internal import HTTPTypes
public import Wire

extension Request {
    /// By how much the content is longer than allowed, as far as the request says: what is too long is not read.
    public func excess(over limit: Int) -> String {
        let length = fields[.contentLength].flatMap { Int($0) }.map { "\($0) bytes" } ?? "more than that"
        return "the content: found \(length); expected \(limit) bytes at most"
    }
}
