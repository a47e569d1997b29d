import Tokens

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
        return UnixTime.seconds(year: year, month: month, day: day, hour: hour, minute: minute, second: -offset)
            + second
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
}
