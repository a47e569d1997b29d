/// Which routes and failures the exchanges of a sandbox have met, as one bit for each.
package struct Coverage: Sendable {
    private var words: [UInt64] = []

    package init() {}

    /// Sets a bit; a negative one stands for nothing.
    mutating func note(_ mark: Int) {
        guard mark >= 0 else { return }
        while words.count <= mark >> 6 { words.append(0) }
        words[mark >> 6] |= 1 << UInt64(mark & 63)
    }

    package func holds(_ mark: Int) -> Bool {
        words.indices.contains(mark >> 6) && words[mark >> 6] >> UInt64(mark & 63) & 1 == 1
    }
}
