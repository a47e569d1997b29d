import JSON

/// A text as a key that is compared byte for byte: `==` of texts also equates those that differ in normalization.
struct ExactText: Sendable, Hashable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ExactText, right: ExactText) -> Bool { left.text.hasSameBytes(as: right.text) }

    func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Texts, each once, in the order of their bytes.
    static func sorted(_ texts: Set<ExactText>) -> [String] {
        texts.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}
