/// The content of a request, or the exact expected content of an answer.
package struct HurlBody: Sendable, Hashable {
    /// The notation of the content.
    package enum Content: Sendable, Hashable {
        /// JSON exactly as written, whitespace included.
        case json([JSONPart])
        /// Text between single or triple backquotes, and the language after the triple ones.
        case text(HurlTemplate, language: String?)
        /// Bytes in base64 or hexadecimal.
        case bytes([UInt8])
    }

    package enum JSONPart: Sendable, Hashable {
        /// Characters as written.
        case text(String)
        /// A variable inside a string; its value is escaped.
        case inString(HurlVariable)
        case value(HurlVariable)
    }

    package let place: HurlPlace
    /// The content in its notation.
    package let content: Content

    /// The default media type of a request with this content.
    package var contentType: String? {
        switch content {
        case .json, .text(_, language: "json"?): "application/json"
        case .text(_, language: "xml"?): "application/xml"
        case .text, .bytes: nil
        }
    }
}
