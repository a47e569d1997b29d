import JSON

/// A text that equals another one only byte for byte, as names and ids in tokens do.
///
/// A `String` also equals one in another Unicode normalization, so that a dictionary would take two issuers for one.
struct ExactText: Sendable, Hashable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (left: ExactText, right: ExactText) -> Bool { left.text.hasSameBytes(as: right.text) }

    func hash(into hasher: inout Hasher) {
        let isHashed: Void? = text.utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        // Texts that Foundation bridges on Apple's systems may have no contiguous storage.
        if isHashed == nil { for byte in text.utf8 { hasher.combine(byte) } }
    }
}

extension String {
    /// The text in which ASCII letters are small, for what is compared without regard to their case.
    var caseFolded: ExactText {
        ExactText(
            String(
                decoding: utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 },
                as: UTF8.self))
    }
}
