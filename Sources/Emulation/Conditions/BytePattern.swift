import JSON

/// A string searched for in others byte by byte; each byte is examined about once, whatever both strings contain
/// (Knuth, Morris and Pratt).
struct BytePattern: Sendable {
    let text: String
    private let bytes: [UInt8]
    /// For each prefix, the length of the longest proper prefix that is also its suffix.
    private let borders: [Int]

    init(_ text: String) {
        self.text = text
        let bytes = Array(text.utf8)
        var borders = [Int](repeating: 0, count: bytes.count)
        var length = 0
        for index in bytes.indices.dropFirst() {
            while length > 0, bytes[index] != bytes[length] { length = borders[length - 1] }
            if bytes[index] == bytes[length] { length += 1 }
            borders[index] = length
        }
        (self.bytes, self.borders) = (bytes, borders)
    }

    /// Whether the bytes occur contiguously; `false` once the budget is spent.
    func occurs(in text: String, within budget: inout WorkBudget) -> Bool {
        guard budget.spend(onBytes: text.utf8.count) else { return false }
        if bytes.isEmpty { return true }
        var length = 0
        for byte in text.utf8 {
            while length > 0, byte != bytes[length] { length = borders[length - 1] }
            if byte == bytes[length] { length += 1 }
            if length == bytes.count { return true }
        }
        return false
    }
}
