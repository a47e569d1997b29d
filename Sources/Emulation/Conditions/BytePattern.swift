import JSON

/// A text that is looked for in others, byte by byte; each byte is looked at about once, whatever both texts are (Knuth,
/// Morris and Pratt).
struct BytePattern: Sendable {
    /// What is looked for.
    let text: String
    private let bytes: [UInt8]
    /// How much of the beginning has been seen again at the end of each beginning.
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

    /// Whether the bytes occur in order and without a gap; not once the budget is spent.
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
