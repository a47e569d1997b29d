/// A string without its percent escapes that knows the origin of each of its bytes.
struct DecodedText {
    let bytes: [UInt8]
    /// Where each byte begins in the escaped text, and where that text ends.
    private let origins: [UInt32]

    /// Decodes every percent escape once; `nil` when there is none.
    init?(percentEncoded text: [UInt8]) {
        guard text.contains(UInt8(ascii: "%")) else { return nil }
        var (bytes, origins): ([UInt8], [UInt32]) = ([], [])
        bytes.reserveCapacity(text.count)
        origins.reserveCapacity(text.count + 1)
        var index = 0
        while index < text.count {
            origins.append(UInt32(index))
            if text[index] == UInt8(ascii: "%"), index + 2 < text.count, let high = text[index + 1].hexadecimal,
                let low = text[index + 2].hexadecimal
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(text[index])
                index += 1
            }
        }
        guard bytes.count < text.count else { return nil }
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
