internal import HTTPTypes

/// A request target normalized to origin form (RFC 9112 section 3.2).
struct RequestTarget {
    /// Path and query as sent, or `*`.
    let origin: String
    /// The authority of an absolute-form target.
    let authority: String?

    /// Parses a target of allowed bytes.
    init(_ bytes: ArraySlice<UInt8>, method: HTTPRequest.Method, isSecure: Bool) throws(RequestRejection) {
        if bytes.first == UInt8(ascii: "/") {
            origin = String(decoding: bytes, as: UTF8.self)
            authority = nil
        } else if bytes.elementsEqual(CollectionOfOne(UInt8(ascii: "*"))), method == .options {
            origin = "*"
            authority = nil
        } else {
            let (host, path) = try Self.absolute(bytes, isSecure: isSecure)
            authority = host
            // RFC 9112 section 3.2.4: the last proxy sends the asterisk for an OPTIONS request without a path.
            origin = path.isEmpty && method == .options ? "*" : path.hasPrefix("/") ? path : "/" + path
        }
    }

    /// Scheme, authority, path and query; user information is rejected as RFC 9110 section 4.2.4 advises.
    private static func absolute(_ bytes: ArraySlice<UInt8>, isSecure: Bool) throws(RequestRejection) -> (
        String, String
    ) {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            throw .malformedTarget
        }
        let isForSecure = bytes[..<colon].equals(ignoringCase: "https")
        guard isForSecure || bytes[..<colon].equals(ignoringCase: "http") else { throw .malformedTarget }
        let rest = bytes[(colon + 3)...]
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        guard Authority.isValid(rest[..<end]) else { throw .malformedTarget }
        guard isSecure || !isForSecure else { throw .insecureTarget }
        return (String(decoding: rest[..<end], as: UTF8.self), String(decoding: rest[end...], as: UTF8.self))
    }
}
