#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Received bytes not yet used, with a search for line ends.
struct InputBuffer {
    /// The result of a search for the next line.
    enum Line {
        /// The line's end has not arrived.
        case incomplete
        /// The line ends in a bare LF, preceded by that many unused bytes.
        case bareLineFeed(Int)
        /// The line, without its CRLF.
        case complete(Range<Int>)
    }

    /// The bytes; those before ``start`` are used.
    private(set) var bytes: [UInt8] = []
    /// Where the unused bytes start.
    private(set) var start = 0
    /// Where the next line starts: lines after `start` may have been read but still be needed.
    private(set) var line = 0
    private var scanned = 0
    private var strayReturn: Int?

    /// The number of unused bytes.
    var count: Int { bytes.count - start }
    var unused: ArraySlice<UInt8> { bytes[start...] }
    /// The first byte of the next line.
    var firstOfLine: UInt8? { line < bytes.count ? bytes[line] : nil }
    /// The number of unused bytes before the first bare CR of the line searched last.
    var bareCarriageReturn: Int? { strayReturn.map { $0 - start } }

    /// Appends received bytes. Positions become invalid, except relative to ``start``.
    mutating func append(_ received: UnsafeRawBufferPointer) {
        if start == bytes.count {
            reset()
        } else if start > 0 {
            bytes.removeSubrange(0..<start)
            line -= start
            scanned -= start
            strayReturn = strayReturn.map { $0 - start }
            start = 0
        }
        bytes.append(contentsOf: received)
    }

    /// Keeps a small buffer for the next request and frees a large one.
    private mutating func reset() {
        bytes.capacity > 4096 ? bytes = [] : bytes.removeAll(keepingCapacity: true)
        start = 0
        line = 0
        scanned = 0
        strayReturn = nil
    }

    /// Takes the next line, which stays in the buffer until ``use(_:)`` passes it.
    mutating func nextLine() -> Line {
        if scanned == line { strayReturn = nil }
        guard let end = nextLineFeed() else { return .incomplete }
        guard end > line, bytes[end - 1] == .carriageReturn else { return .bareLineFeed(end - start) }
        let found = line..<(end - 1)
        line = end + 1
        scanned = line
        return .complete(found)
    }

    /// The position of the next LF; notes a bare CR before it.
    private mutating func nextLineFeed() -> Int? {
        let lineFeed = place(of: .lineFeed, in: scanned..<bytes.count)
        if strayReturn == nil, let place = place(of: .carriageReturn, in: scanned..<(lineFeed ?? bytes.count)) {
            // The next byte shows whether this one is bare.
            guard place + 1 < bytes.count else {
                scanned = place
                return nil
            }
            if place + 1 != lineFeed { strayReturn = place }
        }
        scanned = lineFeed ?? bytes.count
        return lineFeed
    }

    /// Nearly all bytes of a head are neither CR nor LF, and `memchr` skips many at a time.
    private func place(of byte: UInt8, in range: Range<Int>) -> Int? {
        bytes.withUnsafeBytes { buffer in
            guard !range.isEmpty, let start = buffer.baseAddress,
                let found = memchr(start + range.lowerBound, Int32(byte), range.count)
            else { return nil }
            return UnsafeRawPointer(found) - start
        }
    }

    /// Marks bytes as used; the next line starts after them.
    mutating func use(_ count: Int) {
        start += count
        line = max(line, start)
        scanned = max(scanned, start)
    }

    /// Marks all lines taken as used.
    mutating func useLines() { start = line }
}

extension UInt8 {
    static var carriageReturn: UInt8 { 0x0D }
    static var lineFeed: UInt8 { 0x0A }
    static var space: UInt8 { 0x20 }
    static var tab: UInt8 { 0x09 }

    /// Whether the byte is a blank (RFC 9110 section 5.6.3).
    var isBlank: Bool { self == .space || self == .tab }

    /// Whether the byte is allowed in a field value (RFC 9110 section 5.5): no control characters except tab.
    var isFieldContent: Bool { self >= .space ? self != 0x7F : self == .tab }

    var isDigit: Bool { self &- 0x30 < 10 }

    var hexadecimalValue: Int? {
        switch self {
        case 0x30...0x39: Int(self) - 0x30
        case 0x41...0x46: Int(self) - 0x41 + 10
        case 0x61...0x66: Int(self) - 0x61 + 10
        default: nil
        }
    }

    var lowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}

extension Collection<UInt8> {
    /// Compares case-insensitively with a lowercase text.
    func equals(ignoringCase text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { zip(self, $0).allSatisfy { $0.lowercased == $1 } }
    }

    func equals(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { zip(self, $0).allSatisfy { $0 == $1 } }
    }

    /// The decimal number; `nil` unless there are 1 to 18 digits and nothing else.
    var decimalNumber: Int? {
        guard !isEmpty, count <= 18, allSatisfy(\.isDigit) else { return nil }
        return reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}

extension BidirectionalCollection<UInt8> where SubSequence == Self {
    /// The bytes without leading and trailing blanks.
    var trimmed: Self {
        var slice = drop { $0.isBlank }
        while let last = slice.last, last.isBlank { slice.removeLast() }
        return slice
    }
}

/// A set of ASCII characters in 128 bits; a lookup is a shift.
struct ByteSet: Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init(_ characters: String) {
        for byte in characters.utf8 { insert(byte) }
    }

    init(_ range: ClosedRange<UInt8>, except excepted: UInt8) {
        for byte in range where byte != excepted { insert(byte) }
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 { low |= 1 << byte } else if byte < 128 { high |= 1 << (byte - 64) }
    }

    func contains(_ byte: UInt8) -> Bool {
        // The masking shift uses the amount modulo 64, as both halves need.
        byte < 128 && (byte < 64 ? low : high) &>> UInt64(byte) & 1 == 1
    }

    private static let alphanumerics = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

    /// The characters of a token (RFC 9110 section 5.6.2).
    static let token = ByteSet(alphanumerics + "!#$%&'*+-.^_`|~")
    /// The characters of a request target: all visible ones except `#`, since real clients send `[`, `]` and `^`
    /// unescaped.
    static let target = ByteSet(0x21...0x7E, except: UInt8(ascii: "#"))
    // ours: RFC 3986 also allows sub-delimiters and percent-encoding, which no reachable host uses and which two
    // parties may read differently.
    static let hostName = ByteSet(alphanumerics + "-._~")
}
