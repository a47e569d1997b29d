#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Writes whole lines to a descriptor, waits for its reader, and counts the lines it cannot write.
struct LineOutput {
    /// A pipe takes up to this much atomically, so that lines of different programs do not mix.
    private static let pieceBytes = Int(PIPE_BUF)
    private static let lineFeed = UInt8(ascii: "\n")

    let descriptor: Int32
    /// Lost lines that have not been reported yet.
    private(set) var untold = 0
    /// Whether the last write ended within a line.
    private(set) var isTorn = false

    /// Writes complete lines.
    ///
    /// - Parameter notice: the line that reports lost lines; it precedes the next line that can be written.
    /// - Returns: the number of lines that could not be written.
    mutating func write(_ lines: [UInt8], _ notice: (Int) -> String) -> Int {
        var (rest, lost) = (lines[...], 0)
        while !rest.isEmpty {
            let piece = Self.piece(of: rest)
            rest = rest[piece.endIndex...]
            let left = tellOfLost(notice) ? put(piece) : piece
            let count = left.count { $0 == Self.lineFeed }
            untold += count
            lost += count
        }
        return lost
    }

    /// Reports lines dropped after those written last.
    mutating func tell(ofDropped count: Int, _ notice: (Int) -> String) {
        untold += count
        _ = tellOfLost(notice)
    }

    /// Returns false when nothing can be written now.
    private mutating func tellOfLost(_ notice: (Int) -> String) -> Bool {
        guard untold > 0 else { return true }
        guard put(Array((notice(untold) + "\n").utf8)[...]).isEmpty else { return false }
        untold = 0
        return true
    }

    /// The leading lines that fit into one piece; a longer line is a piece of its own.
    private static func piece(of lines: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard lines.count > pieceBytes else { return lines }
        let end = lines.prefix(pieceBytes).lastIndex(of: lineFeed) ?? lines.firstIndex(of: lineFeed)
        return end.map { lines[...$0] } ?? lines
    }

    /// Writes a piece, after ending a torn line.
    ///
    /// - Returns: what could not be written.
    private mutating func put(_ piece: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        if isTorn, !send([Self.lineFeed]).isEmpty { return piece }
        return send(piece)
    }

    /// - Returns: what could not be written because of a closed pipe, a full disk or the like.
    private mutating func send(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                isTorn = rest[rest.startIndex + written - 1] != Self.lineFeed
                rest = rest.dropFirst(written)
            } else if written == 0 || !mayTryAgain {
                return rest
            }
        }
        return rest
    }

    /// Whether to retry a write that took nothing. Another program may have made the descriptor non-blocking.
    private var mayTryAgain: Bool {
        switch errno {
        case EINTR: return true
        case EAGAIN:
            var reader = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            return poll(&reader, 1, -1) >= 0 || errno == EINTR
        default: return false
        }
    }
}

/// The system's `write`, which a method of that name would hide.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
