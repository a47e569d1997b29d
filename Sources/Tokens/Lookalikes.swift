internal import JSON

/// Different texts that look the same.
package enum Lookalikes {
    /// Both texts, with everything except ASCII escaped if they differ but look alike; otherwise unchanged.
    ///
    /// Names and ids are compared byte for byte, so “zoé” in another normalization, a Cyrillic “а” or an invisible
    /// space makes another name.
    package static func distinguished(_ first: String, _ second: String) -> (String, String) {
        areAlike(first, second) ? (escaped(first), escaped(second)) : (first, second)
    }

    /// Whether two different texts have no reliably visible difference.
    package static func areAlike(_ first: String, _ second: String) -> Bool {
        guard !first.hasSameBytes(as: second) else { return false }
        // In ASCII only spaces and controls are invisible; looking up Unicode properties is slow.
        if first.utf8.allSatisfy(\.isASCII), second.utf8.allSatisfy(\.isASCII) {
            return first.utf8.lazy.filter(\.isGraphic).elementsEqual(second.utf8.lazy.filter(\.isGraphic))
        }
        if first == second { return true }
        let (own, others) = (visible(first), visible(second))
        guard own.count == others.count else { return false }
        return zip(own, others).allSatisfy { $0 == $1 || !$0.isASCII || !$1.isASCII }
    }

    /// The text with everything but printable ASCII escaped as in JSON, including spaces at its edges.
    package static func escaped(_ text: String) -> String {
        var result = ""
        let blank: UInt32 = 0x20
        let scalars = Array(text.unicodeScalars)
        for (index, scalar) in scalars.enumerated() {
            let isAtEdge = index == 0 || index == scalars.count - 1
            if (0x21...0x7E).contains(scalar.value) || (scalar.value == blank && !isAtEdge) {
                result.unicodeScalars.append(scalar)
            } else {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
                }
            }
        }
        return result
    }

    /// The visible characters: without formats, controls, variation selectors and whitespace.
    private static func visible(_ text: String) -> [Character] {
        var seen = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where !isInvisible(scalar) { seen.append(scalar) }
        return Array(String(seen))
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        return properties.isDefaultIgnorableCodePoint || properties.isWhitespace
            || properties.generalCategory == .control || properties.generalCategory == .format
    }
}

extension UInt8 {
    fileprivate var isASCII: Bool { self < 0x80 }
    /// Whether it is a visible ASCII character.
    fileprivate var isGraphic: Bool { (0x21...0x7E).contains(self) }
}

extension Fact {
    /// Expected and found, made distinguishable if their texts look alike.
    static func distinguished(_ expected: Fact?, _ found: Fact?) -> (expected: Fact?, found: Fact?) {
        guard let one = expected?.comparedText, let other = found?.comparedText, Lookalikes.areAlike(one, other) else {
            return (expected, found)
        }
        return (.text(Lookalikes.escaped(one)), .text(Lookalikes.escaped(other)))
    }

    private var comparedText: String? {
        switch self {
        case .text(let text): text
        case .json(let value): value.string
        default: nil
        }
    }
}
