extension Duration {
    private static let unitsInSeconds: [(suffix: String, seconds: Double)] = [
        ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86400),
    ]

    /// Reads a duration such as `250ms`, `90s`, `31m`, `2h` or `1d`; a leading `-` and a fraction are allowed.
    ///
    /// `nil` when the unit is missing or unknown, or the duration is longer than a thousand years.
    package init?(text: String) {
        guard let unit = Self.unitsInSeconds.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
        let number = text.dropLast(unit.suffix.count)
        guard Self.isDecimal(number.utf8), let amount = Double(number),
            (amount * unit.seconds).magnitude < 1000 * 366 * 86400
        else { return nil }
        self = .seconds(amount * unit.seconds)
    }

    /// Digits with an optional sign and fraction: the library would also accept `inf`, `1e3` and hexadecimal.
    ///
    /// A regular expression would be compiled for every duration, and startup reads a few hundred.
    private static func isDecimal(_ text: Substring.UTF8View) -> Bool {
        let parts = (text.first == UInt8(ascii: "-") ? text.dropFirst() : text)
            .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count <= 2
            && parts.allSatisfy { part in
                !part.isEmpty && part.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            }
    }
}
