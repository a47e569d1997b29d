import Wire

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
