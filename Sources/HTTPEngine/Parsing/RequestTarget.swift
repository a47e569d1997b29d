internal import HTTPTypes

/// A request target brought to origin form. RFC 9112 section 3.2.
struct RequestTarget {
    /// Path and query as they were sent, or `*`.
    let origin: String
    /// The authority, if the target came in absolute form.
    let authority: String?

    /// Reads a target whose bytes are known to be allowed.
    init(_ bytes: ArraySlice<UInt8>, method: HTTPRequest.Method) throws(Refusal) {
        // A decoded NUL ends a C string: somebody behind us would see another path.
        guard !Self.containsEncodedNUL(bytes) else { throw .malformedTarget }
        if bytes.first == UInt8(ascii: "/") {
            origin = String(decoding: bytes, as: UTF8.self)
            authority = nil
        } else if bytes.elementsEqual(CollectionOfOne(UInt8(ascii: "*"))), method == .options {
            origin = "*"
            authority = nil
        } else {
            (authority, origin) = try Self.absolute(bytes)
        }
    }

    private static func containsEncodedNUL(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        while let mark = rest.firstIndex(of: UInt8(ascii: "%")) {
            rest = rest[(mark + 1)...]
            if rest.starts(with: "00".utf8) { return true }
        }
        return false
    }

    /// Scheme, authority, path and query; user information is refused as RFC 9110 section 4.2.4 advises.
    private static func absolute(_ bytes: ArraySlice<UInt8>) throws(Refusal) -> (String, String) {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8),
            bytes[..<colon].equals(ignoringCase: "http") || bytes[..<colon].equals(ignoringCase: "https")
        else { throw .malformedTarget }
        let rest = bytes[(colon + 3)...]
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        guard Authority.isValid(rest[..<end]) else { throw .malformedTarget }
        let path = String(decoding: rest[end...], as: UTF8.self)
        return (String(decoding: rest[..<end], as: UTF8.self), path.hasPrefix("/") ? path : "/" + path)
    }
}
