import HTTPTypes
import Wire

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

/// The host and port of a request (RFC 9110 section 7.2, RFC 3986 section 3.2).
enum Authority {
    /// Whether these bytes are a host with an optional port.
    ///
    /// An empty host is rejected: it is invalid in `http` and `https` (RFC 9110 section 4.2.1).
    static func isValid(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first else { return false }
        if first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
            return isAddress(bytes[(bytes.startIndex + 1)..<end]) && isPort(bytes[(end + 1)...])
        }
        let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        let names = ByteSet.hostName
        return end > bytes.startIndex && bytes[..<end].allSatisfy(names.contains) && isPort(bytes[end...])
    }

    /// Whether these bytes are an IPv6 address; a zone is rejected, since it means nothing to another machine.
    private static func isAddress(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let gap = bytes.indices.first(where: { bytes[$0...].starts(with: "::".utf8) }) else {
            return groupCount(bytes, mayEndAsIPv4: true) == 8
        }
        guard let before = groupCount(bytes[..<gap], mayEndAsIPv4: false),
            let after = groupCount(bytes[(gap + 2)...], mayEndAsIPv4: true)
        else { return false }
        return before + after <= 7
    }

    /// The number of 16-bit groups; `nil` if a group is invalid.
    private static func groupCount(_ bytes: ArraySlice<UInt8>, mayEndAsIPv4: Bool) -> Int? {
        guard !bytes.isEmpty else { return 0 }
        var groups = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var count = 0
        if mayEndAsIPv4, let last = groups.last, last.contains(UInt8(ascii: ".")) {
            guard isIPv4(last) else { return nil }
            groups.removeLast()
            count = 2
        }
        let areHexadecimal = groups.allSatisfy {
            (1...4).contains($0.count) && $0.allSatisfy { $0.hexadecimalValue != nil }
        }
        return areHexadecimal ? count + groups.count : nil
    }

    private static func isIPv4(_ bytes: ArraySlice<UInt8>) -> Bool {
        let numbers = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return numbers.count == 4
            && numbers.allSatisfy { number in
                number.decimalNumber.map { $0 <= 255 } ?? false
                    && (number.count == 1 || number.first != UInt8(ascii: "0"))
            }
    }

    /// Whether these bytes are empty, or a colon and a port; RFC 3986 section 3.2.3 allows a colon alone.
    private static func isPort(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let colon = bytes.first else { return true }
        guard colon == UInt8(ascii: ":") else { return false }
        let digits = bytes.dropFirst()
        return digits.isEmpty || (digits.count <= 5 && digits.decimalNumber.map { $0 <= 65535 } ?? false)
    }
}
