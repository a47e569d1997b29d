import Emulation

extension Moment {
    /// Reads a date and time in the forms that the vendor shows: `2018-8-5 12:20:25`, with `t` or `T` for the blank, with a
    /// fraction, with `Z`; without it the time is UTC, too.
    ///
    /// Source: documented, page on data types, which also says that offsets do not work. It speaks of attributes; that the
    /// same holds for timestamps, and that dates without a time and the basic forms of ISO 8601 are refused, is ours.
    init?(bloomreach text: String) {
        let form = /([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})[Tt ]([0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?)[Zz]?/
        guard let parts = text.wholeMatch(of: form) else { return nil }
        func padded(_ digits: Substring) -> String { digits.utf8.count == 1 ? "0\(digits)" : String(digits) }
        self.init(text: "\(parts.1)-\(padded(parts.2))-\(padded(parts.3))T\(parts.4)Z")
    }
}
