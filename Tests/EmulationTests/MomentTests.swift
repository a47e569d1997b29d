import Testing

@testable import Emulation

@Suite("Moments and durations")
struct MomentTests {
    @Test(
        "Unix seconds and RFC 3339 times are read",
        arguments: [
            ("0", 0), ("1800000000", 1_800_000_000), ("1800000000.25", 1_800_000_000.25),
            ("253402300799", 253_402_300_799), ("2027-01-15T08:00:00Z", 1_800_000_000),
            ("2027-01-15t08:00:00z", 1_800_000_000), ("2027-01-15T08:00:00+00:00", 1_800_000_000),
            ("2027-01-15T09:30:00+01:30", 1_800_000_000), ("2027-01-15T00:00:00-08:00", 1_800_000_000),
            ("2027-01-15T08:00:00.5Z", 1_800_000_000.5), ("2027-01-15T08:00:00.250Z", 1_800_000_000.25),
            ("2027-01-15T08:00:00.123456Z", 1_800_000_000.123456), ("2027-01-15T08:00:00.000+00:00", 1_800_000_000),
            ("2027-01-15T08:00:00-00:00", 1_800_000_000), ("2024-02-29T00:00:00Z", 1_709_164_800),
            ("1970-01-01T00:00:00Z", 0), ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] as [(String, Double)])
    func reads(_ text: String, _ seconds: Double) throws {
        let moment = try #require(Moment(text: text))
        #expect(abs(moment.unixSeconds - seconds) < 0.000_001)
    }

    @Test(
        "everything else is not a moment",
        arguments: [
            "", " ", "now", "nan", "-nan", "inf", "-inf", "infinity", "-1", "253402300800", "1e400", "0x10", "1_000",
            " 1800000000", "1800000000 ", "2027-01-15", "08:00:00", "2027-01-15T08:00:00", "2027-01-15 08:00:00Z",
            "2027-01-15T08:00Z", "2027-01-15T08:00:00.Z", "2027-13-01T00:00:00Z", "2027-02-30T00:00:00Z",
            "2023-02-29T00:00:00Z", "2027-01-15T24:00:00Z", "2027-01-15T08:60:00Z", "2027-01-15T08:00:61Z",
            "2027-01-15T08:00:00+25:00", "2027-01-15T08:00:00+1:00", "2027-01-15T08:00:00Z!", "x2027-01-15T08:00:00Z",
            "+2027-01-15T08:00:00Z", "27-01-15T08:00:00Z", "1969-12-31T23:59:59Z", "10000-01-01T00:00:00Z",
            "2027-01-15T08:00:00Z2027-01-15T08:00:00Z", "２０２７-01-15T08:00:00Z",
        ])
    func refuses(_ text: String) {
        #expect(Moment(text: text) == nil)
    }

    @Test(
        "a moment is shown in UTC with milliseconds, never later than it is",
        arguments: [
            (1_800_000_000, "2027-01-15T08:00:00.000Z"), (1_800_000_000.9996, "2027-01-15T08:00:00.999Z"),
            (1_799_999_999.999, "2027-01-15T07:59:59.999Z"), (0, "1970-01-01T00:00:00.000Z"),
            (253_402_300_799, "9999-12-31T23:59:59.000Z"), (951_782_400, "2000-02-29T00:00:00.000Z"),
        ] as [(Double, String)])
    func shows(_ seconds: Double, _ text: String) {
        #expect(Moment(unixSeconds: seconds).rfc3339 == text)
    }

    @Test("whole seconds are rounded down and stay integers whatever the moment is")
    func wholeSeconds() {
        #expect(Moment(unixSeconds: 1.9).wholeSeconds == 1)
        #expect(Moment(unixSeconds: -0.1).wholeSeconds == -1)
        #expect(Moment(unixSeconds: 1e300).wholeSeconds == .max)
        #expect(Moment(unixSeconds: -1e300).wholeSeconds == .min)
    }

    @Test("moments are compared and moved")
    func arithmetic() {
        let moment = Moment(unixSeconds: 100)
        #expect(moment < moment + .milliseconds(1))
        #expect(moment - .seconds(1) < moment)
        #expect((moment + .seconds(31 * 60)).unixSeconds == 1960)
    }

    @Test(
        "durations are read",
        arguments: [
            ("250ms", 0.25), ("90s", 90), ("31m", 1860), ("2h", 7200), ("1d", 86_400), ("0s", 0), ("-5m", -300),
            ("1.5h", 5400), ("0.5s", 0.5),
        ] as [(String, Double)])
    func readsDuration(_ text: String, _ seconds: Double) throws {
        #expect(try #require(Duration(text: text)).inSeconds == seconds)
    }

    @Test(
        "everything else is not a duration",
        arguments: [
            "", "s", "ms", "5", "5x", "m5", "5 s", " 5s", "nans", "infs", "--5s", "1h30m", "5S", "0x5s", "1e400s",
            "400000d", "１s", "1.s", ".5s", "1.2.3s", "-s", "-.s", "+5s", "1e3s",
        ])
    func refusesDuration(_ text: String) {
        #expect(Duration(text: text) == nil)
    }
}
