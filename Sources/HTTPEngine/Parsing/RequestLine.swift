internal import HTTPTypes
internal import Wire

/// The first line of a request: method, target, version (RFC 9112 section 3).
struct RequestLine {
    let method: HTTPRequest.Method
    /// The target in origin form, or `*`.
    let target: String
    /// The authority of an absolute-form target.
    let authority: String?
    let version: Request.Version

    static let blank = RequestLine(method: .get, target: "/", authority: nil, version: .http1_1)
}

extension RequestLine {
    /// Parses the line, given without its line end.
    init(_ line: ArraySlice<UInt8>, isSecure: Bool) throws(RequestRejection) {
        guard let first = line.firstIndex(of: .space), let last = line.lastIndex(of: .space), first < last else {
            throw .malformedRequestLine
        }
        let method = line[..<first]
        let target = line[(first + 1)..<last]
        let tokens = ByteSet.token
        let targets = ByteSet.target
        guard !method.isEmpty, method.allSatisfy(tokens.contains) else { throw .malformedRequestLine }
        guard !target.isEmpty, target.allSatisfy(targets.contains) else { throw .malformedTarget }
        let version = try Self.version(line[(last + 1)...])
        let named = try Self.method(method)
        let parts = try RequestTarget(target, method: named, isSecure: isSecure)
        self.init(method: named, target: parts.origin, authority: parts.authority, version: version)
    }

    /// RFC 9112 section 2.3: `HTTP/`, a digit, a dot, a digit, in uppercase.
    ///
    /// A later minor version is treated as the latest known one (RFC 9110 section 2.5).
    private static func version(_ bytes: ArraySlice<UInt8>) throws(RequestRejection) -> Request.Version {
        guard bytes.count == 8, bytes.prefix(5).equals("HTTP/") else { throw .malformedRequestLine }
        let digits = bytes.suffix(3)
        guard let major = digits.first, let minor = digits.last, major.isDigit, minor.isDigit,
            digits[digits.startIndex + 1] == UInt8(ascii: ".")
        else { throw .malformedRequestLine }
        guard major == UInt8(ascii: "1") else { throw .unsupportedVersion }
        return minor == UInt8(ascii: "0") ? .http1_0 : .http1_1
    }

    /// The methods of RFC 9110 and 5789 except TRACE, which would echo credentials, and CONNECT, which is for proxies.
    private static func method(_ bytes: ArraySlice<UInt8>) throws(RequestRejection) -> HTTPRequest.Method {
        switch bytes {
        case "GET": .get
        case "HEAD": .head
        case "POST": .post
        case "PUT": .put
        case "DELETE": .delete
        case "PATCH": .patch
        case "OPTIONS": .options
        default: throw .unknownMethod
        }
    }
}

/// Matches bytes against texts in a switch, without making a string.
private func ~= (text: StaticString, bytes: ArraySlice<UInt8>) -> Bool { bytes.equals(text) }
