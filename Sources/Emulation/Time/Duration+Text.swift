extension Duration {
    private static let unitsInSeconds: [(suffix: String, seconds: Double)] = [
        ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86400),
    ]

    /// Reads a duration such as `250ms`, `90s`, `31m`, `2h` or `1d`; a leading `-` and a fraction are allowed.
    ///
    /// `nil` when the unit is missing or unknown, or the duration is longer than a thousand years.
    public init?(text: String) {
        guard let unit = Self.unitsInSeconds.first(where: { text.hasSuffix($0.suffix) }),
            text.dropLast(unit.suffix.count).wholeMatch(of: /-?[0-9]+(\.[0-9]+)?/) != nil,
            let amount = Double(text.dropLast(unit.suffix.count)),
            (amount * unit.seconds).magnitude < 1000 * 366 * 86400
        else { return nil }
        self = .seconds(amount * unit.seconds)
    }
}
