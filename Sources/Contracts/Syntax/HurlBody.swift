/// The content of a request, or the exact content that is expected of an answer.
public struct HurlBody: Sendable, Hashable {
    /// In which form it is written.
    public enum Content: Sendable, Hashable {
        /// JSON, taken as it is written, blanks included.
        case json([JSONPart])
        /// Text between one or three backquotes, and the language behind the three.
        case text(HurlTemplate, language: String?)
        /// Bytes in base64 or hexadecimal.
        case bytes([UInt8])
    }

    /// A piece of JSON.
    public enum JSONPart: Sendable, Hashable {
        /// Characters as they are written.
        case text(String)
        /// A variable inside a string; its value is escaped.
        case inString(HurlVariable)
        /// A variable in place of a value.
        case value(HurlVariable)
    }

    /// Where it begins.
    public let place: HurlPlace
    /// In which form it is written.
    public let content: Content

    /// The media type that a request with this content has, unless it names another one.
    public var contentType: String? {
        switch content {
        case .json, .text(_, language: "json"?): "application/json"
        case .text(_, language: "xml"?): "application/xml"
        case .text, .bytes: nil
        }
    }
}
