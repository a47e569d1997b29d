internal import JSON

/// Where the parts of a token between its dots are: the three that are looked into, and how many there are.
struct TokenParts {
    let header: Range<Int>
    let payload: Range<Int>?
    let signature: Range<Int>?
    /// At most six: the shape of a token is told by then.
    let count: Int

    init(of bytes: [UInt8]) {
        var dots = 0
        var start: Int? = 0
        /// The next part; the sixth one with all dots behind it.
        func next() -> Range<Int>? {
            guard let begin = start else { return nil }
            guard dots < 5, let dot = bytes[begin...].place(of: UInt8(ascii: ".")) else {
                start = nil
                return begin..<bytes.count
            }
            dots += 1
            start = dot + 1
            return begin..<dot
        }
        header = next() ?? 0..<0
        payload = next()
        signature = next()
        while next() != nil {}
        count = dots + 1
    }
}
