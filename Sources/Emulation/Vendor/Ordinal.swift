/// Increasing numbers: ids, revisions, event counts.
///
/// An import may set one of them to its maximum. Continuing from there must neither trap nor exceed what the next
/// import accepts.
public enum Ordinal {
    /// The default maximum for reading (ours): exact in every JSON parser, and never reached by counting.
    public static let largest = 1 << 52

    /// The next count, which stops at the maximum.
    public static func next(after count: Int, upTo largest: Int = largest) -> Int { min(count, largest - 1) + 1 }

    /// The sum of two non-negative counts, limited to the maximum.
    public static func sum(_ count: Int, _ other: Int, upTo largest: Int = largest) -> Int {
        min(min(count, largest) + min(other, largest), largest)
    }

    /// The next unused number; after the maximum it restarts at 1.
    ///
    /// - Parameter isTaken: whether a number is in use; at least one must be free.
    public static func free(after last: Int, upTo largest: Int = largest, _ isTaken: (Int) -> Bool) -> Int {
        var number = last
        repeat { number = number < largest ? number + 1 : 1 } while isTaken(number)
        return number
    }
}
