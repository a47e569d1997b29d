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

/// What the field lines say about the message itself: host, framing, connection.
struct MessageFields {
    /// How the content is delimited (RFC 9112 section 6).
    enum Framing: Equatable {
        /// `Content-Length`, or no content.
        case length(Int)
        /// `Transfer-Encoding: chunked`.
        case chunked
    }

    private(set) var host: String?
    private(set) var expectsContinue = false
    private var contentLength: Int?
    private var isChunked = false
    private var saysClose = false
    private(set) var saysKeepAlive = false

    /// Notes a field line; those irrelevant to the engine are ignored.
    mutating func note(_ line: FieldLines.Line, of bytes: [UInt8]) throws(RequestRejection) {
        func isNamed(_ name: StaticString) -> Bool { bytes[line.name].equals(ignoringCase: name) }
        switch line.name.count {
        case 4 where isNamed("host"): try noteHost(bytes[line.value])
        case 6 where isNamed("expect"): try noteExpectation(bytes[line.value])
        case 10 where isNamed("connection"): noteConnection(bytes[line.value])
        case 14 where isNamed("content-length"): try noteContentLength(bytes[line.value])
        case 17 where isNamed("transfer-encoding"): try noteTransferEncoding(bytes[line.value])
        default: break
        }
    }

    /// The framing, once all lines are known.
    func framing(in version: Request.Version) throws(RequestRejection) -> Framing {
        guard isChunked else { return .length(contentLength ?? 0) }
        guard contentLength == nil, version == .http1_1 else { throw .invalidTransferEncoding }
        return .chunked
    }

    /// Whether the connection persists after this message (RFC 9112 section 9.3).
    func persists(in version: Request.Version) -> Bool { !saysClose && (version == .http1_1 || saysKeepAlive) }

    private mutating func noteHost(_ value: ArraySlice<UInt8>) throws(RequestRejection) {
        guard host == nil, Authority.isValid(value) else { throw .invalidHost }
        host = String(decoding: value, as: UTF8.self)
    }

    private mutating func noteExpectation(_ value: ArraySlice<UInt8>) throws(RequestRejection) {
        guard value.equals(ignoringCase: "100-continue") else { throw .unknownExpectation }
        expectsContinue = true
    }

    private mutating func noteConnection(_ value: ArraySlice<UInt8>) {
        for element in value.split(separator: UInt8(ascii: ",")) {
            let option = element.trimmed
            if option.equals(ignoringCase: "close") { saysClose = true }
            if option.equals(ignoringCase: "keep-alive") { saysKeepAlive = true }
        }
    }

    private mutating func noteContentLength(_ value: ArraySlice<UInt8>) throws(RequestRejection) {
        guard contentLength == nil, !value.isEmpty, value.allSatisfy(\.isDigit) else { throw .invalidContentLength }
        // RFC 9110 section 8.6 allows leading zeros, which do not make a number large.
        let digits = value.drop { $0 == UInt8(ascii: "0") }
        guard let length = digits.isEmpty ? 0 : digits.decimalNumber else { throw .contentTooLarge }
        contentLength = length
    }

    private mutating func noteTransferEncoding(_ value: ArraySlice<UInt8>) throws(RequestRejection) {
        if value.equals(ignoringCase: "chunked"), !isChunked {
            isChunked = true
            return
        }
        let codings = value.split(separator: UInt8(ascii: ","))
        let chunked = codings.count { $0.trimmed.equals(ignoringCase: "chunked") }
        guard !isChunked, chunked == 1, codings.last?.trimmed.equals(ignoringCase: "chunked") == true else {
            throw .invalidTransferEncoding
        }
        throw codings.count == 1 ? .invalidTransferEncoding : .unknownTransferCoding
    }
}

extension FieldLines.Line {
    /// Parses the field line at `range`, without its line end (RFC 9112 section 5).
    ///
    /// `nil` unless it is a token, immediately followed by a colon, and a value without control characters. A folded
    /// line starts with a blank, so its name is not a token.
    init?(parsing range: Range<Int>, in bytes: [UInt8]) {
        let tokens = ByteSet.token
        let places = bytes[range].withUnsafeBufferPointer { line -> (colon: Int, value: Range<Int>)? in
            guard let colon = line.firstIndex(where: { !tokens.contains($0) }), colon > 0,
                line[colon] == UInt8(ascii: ":")
            else { return nil }
            let value = UnsafeBufferPointer(rebasing: line[(colon + 1)...])
            guard Self.isFieldContent(value) else { return nil }
            let trimmed = value[...].trimmed
            return (colon, (colon + 1 + trimmed.startIndex)..<(colon + 1 + trimmed.endIndex))
        }
        guard let (colon, value) = places else { return nil }
        let start = range.lowerBound
        self.init(name: start..<(start + colon), value: (start + value.lowerBound)..<(start + value.upperBound))
    }

    /// Whether every byte is allowed in a field value.
    private static func isFieldContent(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
        // Values are long and rarely contain control characters, and a loop without an early exit can be vectorized.
        var controls: UInt8 = 0
        for byte in value { controls |= (byte < .space ? 1 : 0) | (byte == 0x7F ? 1 : 0) }
        return controls == 0 || value.allSatisfy(\.isFieldContent)
    }

    /// The same line in a buffer that starts `distance` bytes later.
    func moved(by distance: Int) -> FieldLines.Line {
        FieldLines.Line(
            name: (name.lowerBound - distance)..<(name.upperBound - distance),
            value: (value.lowerBound - distance)..<(value.upperBound - distance))
    }
}
