#if canImport(Darwin)
    internal import Darwin
#else
    internal import Glibc
#endif

/// Bytes that were received and not yet used, with the search for ends of lines in them.
struct InputBuffer {
    /// What the search for the next line found.
    enum Line {
        /// The line's end has not arrived.
        case incomplete
        /// The line ends in LF alone; so many unused bytes stand before the LF.
        case bareLineFeed(Int)
        /// The line, without its CRLF.
        case complete(Range<Int>)
    }

    /// The bytes; those before ``start`` have been used.
    private(set) var bytes: [UInt8] = []
    /// Where the unused bytes begin.
    private(set) var start = 0
    /// Where the next line begins: lines behind `start` may have been read and still be needed.
    private(set) var line = 0
    private var scanned = 0
    private var strayReturn: Int?

    /// How many bytes have not been used.
    var count: Int { bytes.count - start }
    /// The bytes that have not been used.
    var unused: ArraySlice<UInt8> { bytes[start...] }
    /// The first byte of the next line.
    var firstOfLine: UInt8? { line < bytes.count ? bytes[line] : nil }
    /// How many unused bytes stand before the first CR without LF of the line that was searched last.
    var bareCarriageReturn: Int? { strayReturn.map { $0 - start } }

    /// Adds received bytes. Places given out before are no longer valid, but for their distance from ``start``.
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

    /// Keeps a small buffer for the next request and gives a large one back.
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

    /// The place of the next LF; on the way to it, notes a CR without LF.
    private mutating func nextLineFeed() -> Int? {
        let lineFeed = place(of: .lineFeed, in: scanned..<bytes.count)
        if strayReturn == nil, let place = place(of: .carriageReturn, in: scanned..<(lineFeed ?? bytes.count)) {
            // Whether this one is bare shows in the byte behind it.
            guard place + 1 < bytes.count else {
                scanned = place
                return nil
            }
            if place + 1 != lineFeed { strayReturn = place }
        }
        scanned = lineFeed ?? bytes.count
        return lineFeed
    }

    /// Nearly all bytes of a head are neither CR nor LF, which the system's search passes over many at a time.
    private func place(of byte: UInt8, in range: Range<Int>) -> Int? {
        bytes.withUnsafeBytes { buffer in
            guard !range.isEmpty, let start = buffer.baseAddress,
                let found = memchr(start + range.lowerBound, Int32(byte), range.count)
            else { return nil }
            return UnsafeRawPointer(found) - start
        }
    }

    /// Marks bytes as used; the next line begins behind them.
    mutating func use(_ count: Int) {
        start += count
        line = max(line, start)
        scanned = max(scanned, start)
    }

    /// Marks all lines that were taken as used.
    mutating func useLines() { start = line }
}
