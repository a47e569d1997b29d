internal import JSON

/// The ranges of a token's parts between its dots: the three that are read, and their number.
struct TokenParts {
    let header: Range<Int>
    let payload: Range<Int>?
    let signature: Range<Int>?
    /// At most six, which is enough to tell what the token is.
    let count: Int

    init(of bytes: [UInt8]) {
        var dots = 0
        var start: Int? = 0
        /// The next part; the sixth contains all remaining dots.
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
