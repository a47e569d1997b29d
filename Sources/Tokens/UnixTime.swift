/// Converts between Unix seconds and dates.
package enum UnixTime {
    /// The time in RFC 3339, UTC; a phrase if it needs a year of more than four digits.
    ///
    /// - Parameter alwaysShowsMilliseconds: Whether to show milliseconds even when zero. They are rounded down, so that
    ///   the text is never later than the time.
    package static func text(of seconds: Double, alwaysShowsMilliseconds: Bool = false) -> String {
        guard seconds.isFinite else { return "no moment" }
        guard (-62_135_596_800..<253_402_300_800).contains(seconds) else {
            return seconds < 0 ? "before the year 1" : "after the year 9999"
        }
        let milliseconds = Int((seconds * 1000).rounded(.down))
        let second = floorDivide(milliseconds, by: 1000)
        let day = floorDivide(second, by: 86_400)
        let (year, month, dayOfMonth) = date(ofDay: day)
        let clock = second - day * 86_400
        let fraction = milliseconds - second * 1000
        let time = [clock / 3600, clock / 60 % 60, clock % 60].map { pad($0, 2) }.joined(separator: ":")
        return "\(pad(year, 4))-\(pad(month, 2))-\(pad(dayOfMonth, 2))T\(time)"
            + (fraction == 0 && !alwaysShowsMilliseconds ? "Z" : ".\(pad(fraction, 3))Z")
    }

    /// Unix seconds of a UTC time; the date must exist, the time fields may be negative.
    package static func seconds(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> Double {
        // Years start in March, so that the leap day comes last.
        let marchYear = month > 2 ? year : year - 1
        let marchMonth = (month + 9) % 12
        let leapDays = floorDivide(marchYear, by: 4) - floorDivide(marchYear, by: 100) + floorDivide(marchYear, by: 400)
        let days = marchYear * 365 + leapDays + (153 * marchMonth + 2) / 5 + day - 1 - daysBeforeEpoch
        return Double(((days * 24 + hour) * 60 + minute) * 60 + second)
    }

    /// Days from 1 March of year 0 to 1 January 1970.
    private static let daysBeforeEpoch = 719_468

    private static func date(ofDay day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + daysBeforeEpoch
        let era = floorDivide(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private static func floorDivide(_ value: Int, by divisor: Int) -> Int {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }

    private static func pad(_ value: Int, _ digits: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
