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
        guard end > line, bytes[end - 1] == .carriageReturn else {
            return .bareLineFeed(end - start)
        }
        let found = line..<(end - 1)
        line = end + 1
        scanned = line
        return .complete(found)
    }

    /// The position of the next LF; notes a bare CR before it.
    private mutating func nextLineFeed() -> Int? {
        let lineFeed = place(of: .lineFeed, in: scanned..<bytes.count)
        if strayReturn == nil, let place = place(of: .carriageReturn, in: scanned..<(lineFeed ?? bytes.count)) {
            // The next byte tells whether this one is bare.
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
