import Wire

/// A string without its escapes that knows the origin of each of its bytes.
struct DecodedText {
    let bytes: [UInt8]
    /// Where each byte begins in the escaped text, and where that text ends.
    private let origins: [UInt32]

    /// Decodes every percent escape once; `nil` when there is none.
    init?(percentEncoded text: [UInt8]) {
        self.init(text, mark: UInt8(ascii: "%")) { text, index in
            guard index + 2 < text.count, let high = text[index + 1].hexadecimal, let low = text[index + 2].hexadecimal
            else { return nil }
            return ([high << 4 | low], 3)
        }
    }

    /// Decodes every JSON string escape once; `nil` when there is none.
    init?(escapedInJSON text: [UInt8]) {
        self.init(text, mark: UInt8(ascii: "\\")) { text, index in
            guard index + 1 < text.count else { return nil }
            switch text[index + 1] {
            case UInt8(ascii: "n"): return ([UInt8(ascii: "\n")], 2)
            case UInt8(ascii: "r"): return ([UInt8(ascii: "\r")], 2)
            case UInt8(ascii: "t"): return ([UInt8(ascii: "\t")], 2)
            case UInt8(ascii: "u"): return Self.unicode(text, index)
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return ([text[index + 1]], 2)
            default: return nil
            }
        }
    }

    private static func unicode(_ text: [UInt8], _ index: Int) -> ([UInt8], length: Int)? {
        guard index + 5 < text.count else { return nil }
        let digits = text[(index + 2)...(index + 5)].compactMap(\.hexadecimal)
        // Half of a surrogate pair is not a character, and secrets do not consist of one alone.
        guard digits.count == 4, let scalar = UnicodeScalar(digits.reduce(UInt32(0)) { $0 << 4 | UInt32($1) }) else {
            return nil
        }
        return (Array(String(Character(scalar)).utf8), 6)
    }

    private init?(
        _ text: [UInt8], mark: UInt8, _ decode: ([UInt8], _ index: Int) -> (bytes: [UInt8], length: Int)?
    ) {
        guard text.contains(mark) else { return nil }
        var (bytes, origins): ([UInt8], [UInt32]) = ([], [])
        bytes.reserveCapacity(text.count)
        origins.reserveCapacity(text.count + 1)
        var (index, isChanged) = (0, false)
        while index < text.count {
            guard text[index] == mark, let (decoded, length) = decode(text, index) else {
                bytes.append(text[index])
                origins.append(UInt32(index))
                index += 1
                continue
            }
            bytes += decoded
            origins += decoded.map { _ in UInt32(index) }
            index += length
            isChanged = true
        }
        guard isChanged else { return nil }
        origins.append(UInt32(text.count))
        self.bytes = bytes
        self.origins = origins
    }

    /// The range in the escaped text.
    func origin(of place: Range<Int>) -> Range<Int> {
        Int(origins[place.lowerBound])..<Int(origins[place.upperBound])
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit; `nil` for any other byte.
    fileprivate var hexadecimal: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
