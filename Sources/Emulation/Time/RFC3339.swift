/// Reading dates and times to the letter of RFC 3339 section 5.6.
///
/// The library's parser rolls a 30 February over into March and stops at the first byte that it does not know, so a
/// mistyped moment would be taken for another one.
enum RFC3339 {
    /// The Unix seconds of a date and time with its offset; `nil` for anything else, leap seconds included.
    static func unixSeconds(_ text: String) -> Double? {
        let form = /([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)([Zz]|[+-].*)/
        guard let parts = text.wholeMatch(of: form), let year = Int(parts.1), let month = Int(parts.2),
            let day = Int(parts.3), let hour = Int(parts.4), let minute = Int(parts.5), let second = Double(parts.6),
            (1...12).contains(month), day >= 1, day <= days(in: month, of: year), hour < 24, minute < 60, second < 60,
            let offset = offsetSeconds(parts.7)
        else { return nil }
        let minutes = (daysSince1970(year, month, day) * 24 + hour) * 60 + minute
        return Double(minutes * 60 - offset) + second
    }

    private static func offsetSeconds(_ text: Substring) -> Int? {
        if text.count == 1 { return 0 }
        guard let parts = text.wholeMatch(of: /[+-]([0-9]{2}):([0-9]{2})/), let hours = Int(parts.1),
            let minutes = Int(parts.2), hours < 24, minutes < 60
        else { return nil }
        return (hours * 60 + minutes) * (text.hasPrefix("-") ? -60 : 60)
    }

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    /// Counted in years that begin in March, so that the leap day is the last one.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let marchYear = month > 2 ? year : year - 1
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        // 719,468 days lie between 1 March of the year 0 and 1 January 1970.
        return marchYear * 365 + leapDays + dayOfYear - 719_468
    }
}
