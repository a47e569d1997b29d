import JSON

extension String {
    /// The text with ASCII letters in lower case, for comparisons that ignore case.
    var caseFolded: ExactText {
        ExactText(
            String(
                decoding: utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 },
                as: UTF8.self))
    }
}
