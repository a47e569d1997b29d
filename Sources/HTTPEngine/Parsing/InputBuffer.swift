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

    /// How many bytes have not been used.
    var count: Int { bytes.count - start }
    /// The bytes that have not been used.
    var unused: ArraySlice<UInt8> { bytes[start...] }
    /// The first byte of the next line.
    var firstOfLine: UInt8? { line < bytes.count ? bytes[line] : nil }

    /// Adds received bytes. Places given out before are no longer valid, but for their distance from ``start``.
    mutating func append(_ received: UnsafeRawBufferPointer) {
        if start == bytes.count {
            reset()
        } else if start > 0 {
            bytes.removeSubrange(0..<start)
            line -= start
            scanned -= start
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
    }

    /// Takes the next line, which stays in the buffer until ``use(_:)`` passes it.
    mutating func nextLine() -> Line {
        guard let end = bytes[scanned...].firstIndex(of: .lineFeed) else {
            scanned = bytes.count
            return .incomplete
        }
        guard end > line, bytes[end - 1] == .carriageReturn else {
            return .bareLineFeed(end - start)
        }
        let found = line..<(end - 1)
        line = end + 1
        scanned = line
        return .complete(found)
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
