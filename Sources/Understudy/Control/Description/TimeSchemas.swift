import JSON

// Moments, durations and the clock.
extension NamedSchema {
    static let times = [moment, duration, wait, clock, clockChange]

    /// The pattern does not check the days of a month, but the call does.
    private static let rfc3339 =
        "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?"
        + "([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
    private static let unixSeconds = "[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?"

    static let moment = NamedSchema(
        "Moment",
        Schema.string(
            "Unix seconds, or a date and time by RFC 3339; from 1970 to 9999.",
            pattern: "^(\(unixSeconds)|\(rfc3339))$"))

    static let duration = NamedSchema(
        "Duration",
        Schema.string(
            "A number and its unit: “250ms”, “90s”, “31m”, “2h”, “1d”; at most a thousand years.",
            pattern: "^-?[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)$"))

    static let wait = NamedSchema(
        "Wait",
        Schema.string(
            "A duration of at most 60 seconds, such as “250ms” or “2s”.", pattern: "^[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)$"))

    static let clock = NamedSchema(
        "Clock",
        Schema.answer(
            "What a sandbox's clock shows.", optional: ["note"],
            [
                "now": Schema.string("The moment by RFC 3339, in UTC with milliseconds."),
                "unix": Schema.number("The moment in Unix seconds."),
                "frozen": Schema.boolean("Whether the clock stands still."),
                "machine_time": Schema.boolean("Whether it shows the machine's time."),
                "note": Schema.string("There when the clock ran to the end of the year 9999 and stopped."),
            ]))

    static let clockChange = NamedSchema(
        "ClockChange",
        Schema.content(
            "What becomes of the clock: it is frozen first, then set, then moved, then released.",
            [
                "now": Schema.either(
                    "The moment to show; null for the machine's time.", moment.reference,
                    Schema.number("Unix seconds.", from: 0, to: 253_402_300_799), ["type": "null"]),
                "advance": duration.reference,
                "freeze": Schema.boolean("Whether the clock shall stand still."),
            ]))
}
