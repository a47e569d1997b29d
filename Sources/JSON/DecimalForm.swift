/// A JSON number (RFC 8259) as digits and a power of ten, so that equal numbers have equal forms.
struct DecimalForm: Hashable {
    private let isNegative: Bool
    /// Without leading or trailing zeros; empty for 0.
    private let digits: [UInt8]
    /// The power of ten of the last digit.
    private let exponent: Int

    /// Fails when the exponent's magnitude is 2⁶⁰ or more.
    init?(_ literal: String) {
        let parts = literal.utf8.split(maxSplits: 1) { $0 | 0x20 == UInt8(ascii: "e") }
        let significand = parts[0].split(separator: UInt8(ascii: "."))
        let sign = significand[0].first == UInt8(ascii: "-")
        var digits = Array(significand[0].dropFirst(sign ? 1 : 0))
        if significand.count > 1 { digits += significand[1] }
        guard let first = digits.firstIndex(where: { $0 != UInt8(ascii: "0") }) else {
            (isNegative, self.digits, exponent) = (false, [], 0)
            return
        }
        var exponent = significand.count > 1 ? -significand[1].count : 0
        if parts.count > 1 {
            guard let power = Int(String(decoding: parts[1], as: UTF8.self)), power.magnitude < 1 << 60 else {
                return nil
            }
            exponent += power
        }
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        (isNegative, self.digits, self.exponent) = (sign, Array(digits[first...]), exponent)
    }
}
