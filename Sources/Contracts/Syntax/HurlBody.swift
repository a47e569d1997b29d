/// The content of a request, or the exact expected content of an answer.
public struct HurlBody: Sendable, Hashable {
    /// The notation of the content.
    public enum Content: Sendable, Hashable {
        /// JSON exactly as written, whitespace included.
        case json([JSONPart])
        /// Text between single or triple backquotes, and the language after the triple ones.
        case text(HurlTemplate, language: String?)
        /// Bytes in base64 or hexadecimal.
        case bytes([UInt8])
    }

    /// A piece of JSON.
    public enum JSONPart: Sendable, Hashable {
        /// Characters as written.
        case text(String)
        /// A variable inside a string; its value is escaped.
        case inString(HurlVariable)
        /// A variable that stands for a value.
        case value(HurlVariable)
    }

    /// Where it starts.
    public let place: HurlPlace
    /// The content in its notation.
    public let content: Content

    /// The default media type of a request with this content.
    public var contentType: String? {
        switch content {
        case .json, .text(_, language: "json"?): "application/json"
        case .text(_, language: "xml"?): "application/xml"
        case .text, .bytes: nil
        }
    }
}
