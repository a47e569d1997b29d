import JSON

extension String {
    /// The text in which ASCII letters are small, for what is compared without regard to their case.
    var caseFolded: ExactText {
        ExactText(
            String(
                decoding: utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 },
                as: UTF8.self))
    }
}
