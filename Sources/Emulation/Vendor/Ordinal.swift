/// Numbers that count on: ids, revisions, counts of what happened.
///
/// An import may put one of them at its end. What a call makes of it then must neither trap nor be more than the next
/// import takes.
public enum Ordinal {
    /// The largest that is read where nothing else is said (ours): exact in every reader of JSON, and out of reach.
    public static let largest = 1 << 52

    /// The next count, which stays where it is at the end.
    public static func next(after count: Int, upTo largest: Int = largest) -> Int { min(count, largest - 1) + 1 }

    /// The sum of two counts that are not negative, which goes no further than the end.
    public static func sum(_ count: Int, _ other: Int, upTo largest: Int = largest) -> Int {
        min(min(count, largest) + min(other, largest), largest)
    }

    /// The next number that nobody has; behind the end it begins again with 1.
    ///
    /// - Parameter isTaken: whether somebody has a number; not all may be taken.
    public static func free(after last: Int, upTo largest: Int = largest, _ isTaken: (Int) -> Bool) -> Int {
        var number = last
        repeat { number = number < largest ? number + 1 : 1 } while isTaken(number)
        return number
    }
}
