internal import JSON

/// Texts that differ although people see no difference.
public enum Lookalikes {
    /// Both texts, with escapes for what is not ASCII where they look alike without being the same; otherwise as they are.
    ///
    /// Names and ids are compared by their bytes, so that “zoé” written in two ways, a Cyrillic “а” or an invisible blank is
    /// another name.
    public static func toldApart(_ first: String, _ second: String) -> (String, String) {
        areAlike(first, second) ? (escaped(first), escaped(second)) : (first, second)
    }

    /// Whether two texts that are not the same differ by nothing that people are sure to see.
    public static func areAlike(_ first: String, _ second: String) -> Bool {
        guard !first.hasSameBytes(as: second) else { return false }
        // Of ASCII nothing but blanks and controls goes unseen; to ask for the properties of each letter takes long.
        if first.utf8.allSatisfy(\.isASCII), second.utf8.allSatisfy(\.isASCII) {
            return first.utf8.lazy.filter(\.isGraphic).elementsEqual(second.utf8.lazy.filter(\.isGraphic))
        }
        if first == second { return true }
        let (own, others) = (visible(first), visible(second))
        guard own.count == others.count else { return false }
        return zip(own, others).allSatisfy { $0 == $1 || !$0.isASCII || !$1.isASCII }
    }

    /// The text with everything but printable ASCII escaped as in JSON, blanks at its edges included.
    public static func escaped(_ text: String) -> String {
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

    /// The characters of a text without those that nobody sees: formats, controls, variation selectors, and blanks.
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
    /// Whether it is an ASCII character that leaves a mark.
    fileprivate var isGraphic: Bool { (0x21...0x7E).contains(self) }
}

extension Fact {
    /// What a check expected and found, so that texts which look alike can be told from each other.
    static func toldApart(_ expected: Fact?, _ found: Fact?) -> (expected: Fact?, found: Fact?) {
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
