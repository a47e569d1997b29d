import Emulation

extension Moment {
    /// Reads a date and time: ISO 8601 in its extended form, or the looser forms that the vendor shows, such as
    /// `2018-8-5 12:20:25`. A time may omit its seconds or have fractional ones; a date without a time is midnight;
    /// without an offset, the time is UTC.
    ///
    /// Source: ISO 8601 timestamps are documented (reference page on adding events), and so are the looser forms (page
    /// on data types, for attributes, which also says that offsets do not work there). That timestamps accept both, and
    /// reject the basic form of ISO 8601 and its weeks, is ours.
    init?(bloomreach text: String) {
        let date = /([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})/
        let time = /[Tt ]([0-9]{2}:[0-9]{2})(:[0-9]{2}(?:\.[0-9]+)?)?([Zz]|[+-][0-9]{2}:[0-9]{2})?/
        guard let day = text.prefixMatch(of: date) else { return nil }
        func padded(_ digits: Substring) -> String { digits.utf8.count == 1 ? "0\(digits)" : String(digits) }
        let written = "\(day.1)-\(padded(day.2))-\(padded(day.3))"
        let rest = text[day.range.upperBound...]
        if rest.isEmpty {
            self.init(text: "\(written)T00:00:00Z")
        } else if let parts = rest.wholeMatch(of: time) {
            self.init(text: "\(written)T\(parts.1)\(parts.2 ?? ":00")\(parts.3?.uppercased() ?? "Z")")
        } else {
            return nil
        }
    }
}
