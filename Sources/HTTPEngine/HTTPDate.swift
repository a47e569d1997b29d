/// The date format of RFC 9110 section 5.6.7, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Formats a time in seconds since 1970, which must not be negative.
    static func text(unixTime: Int) -> String {
        let (day, second) = unixTime.quotientAndRemainder(dividingBy: 86_400)
        let date = civilDate(day: day)
        let time = [second / 3600, second / 60 % 60, second % 60].map(twoDigits).joined(separator: ":")
        return "\(days[day % 7]), \(twoDigits(date.day)) \(months[date.month - 1]) \(date.year) \(time) GMT"
    }

    /// The Gregorian date `day` days after 1970-01-01.
    ///
    /// Years start in March, so that a leap day comes last, and are grouped into eras of 400 years.
    private static func civilDate(day: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = (day + 719_468).quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
