import JSON
import Testing

@testable import Tokens

@Suite("Times in tokens")
struct TimeTests {
    @Test(
        "Each form of a number claim is told from the others",
        arguments: [
            ("1800000000", NumericDate.Form.integer, NumericDate.Size.usual), ("1800000000.5", .fraction, .usual),
            ("1800000000.0", .fraction, .usual), ("1.8e9", .exponent, .usual), ("18E8", .exponent, .usual),
            ("-1", .integer, .negative), ("-0", .integer, .usual), ("-0.5", .fraction, .negative),
            ("99999999999", .integer, .usual), ("100000000000", .integer, .milliseconds),
            ("1800000000000.25", .fraction, .milliseconds), ("1e400", .exponent, .excessive),
            ("-1e400", .exponent, .excessive), ("9007199254740992", .integer, .milliseconds),
            ("9007199254740993", .integer, .excessive), ("-9007199254740993", .integer, .excessive),
            ("9007199254740992.5", .fraction, .excessive), ("9007199254740992.0", .fraction, .milliseconds),
            ("9007199254740994", .integer, .excessive), ("\"1800000000\"", .numericString, .usual),
            ("\"1.8e12\"", .numericString, .milliseconds), ("\"soon\"", .otherType, .usual),
            ("\"\"", .otherType, .usual),
            ("\" \"", .otherType, .usual), ("true", .otherType, .usual), ("null", .otherType, .usual),
            ("[1800000000]", .otherType, .usual), ("{}", .otherType, .usual),
        ])
    func forms(_ text: String, _ form: NumericDate.Form, _ size: NumericDate.Size) throws {
        let date = NumericDate(try JSON.parse(text.utf8))
        #expect(date.form == form)
        #expect(date.size == size)
        #expect((date.seconds() != nil) == (date.isNumber && size != .excessive))
    }

    @Test("An absent claim is absent")
    func absent() {
        #expect(NumericDate(nil).form == .absent)
        #expect(NumericDate(nil).seconds() == nil)
    }

    @Test(
        "Expiry counts from the second itself, and leeway moves it",
        arguments: [
            (1_799_999_999.0, 0.0, false, true), (1_800_000_000, 0, false, false), (1_800_000_000, 0, true, true),
            (1_800_000_000.001, 0, true, false), (1_800_000_059.9, 60, false, true), (1_800_000_060, 60, false, false),
        ])
    func expiry(_ moment: Double, _ leeway: Double, _ acceptsLastSecond: Bool, _ passes: Bool) {
        let token = ClaimTests.token("{\"exp\":1800000000}")
        let rules = TimeRules(leeway: leeway, acceptsLastSecond: acceptsLastSecond)
        #expect(token.expiry(at: moment, rules).outcome == (passes ? .passed : .failed))
    }

    @Test(
        "Not-before and issued-at count the second itself as reached",
        arguments: [
            (1_799_999_999.0, 0.0, false), (1_800_000_000, 0, true), (1_799_999_970, 30, true),
            (1_799_999_969, 30, false),
        ])
    func start(_ moment: Double, _ leeway: Double, _ passes: Bool) {
        let token = ClaimTests.token("{\"nbf\":1800000000,\"iat\":1800000000}")
        let rules = TimeRules(leeway: leeway)
        #expect(token.notBefore(at: moment, rules).outcome == (passes ? .passed : .failed))
        #expect(token.notBefore(at: moment, claim: "iat", rules).outcome == (passes ? .passed : .failed))
        #expect(token.issuedAt(at: moment, rules).outcome == (passes ? .passed : .failed))
    }

    @Test("Milliseconds are seconds far away, unless they are to be read as such")
    func milliseconds() {
        let token = ClaimTests.token("{\"exp\":1800000000000}")
        let finding = token.expiry(at: 1_800_000_001)
        #expect(finding.outcome == .passed)
        #expect(finding.note != nil)
        #expect(token.expiry(at: 1_800_000_001, TimeRules(readsMilliseconds: true)).outcome == .failed)
        #expect(token.expiry(at: 1_799_999_999, TimeRules(readsMilliseconds: true)).outcome == .passed)
    }

    @Test("An exp that is not above 0 is over at any leeway", arguments: ["0", "-1", "-0", "0.0", "-1e300"])
    func neverBegan(_ expiry: String) {
        let token = ClaimTests.token("{\"exp\":\(expiry)}")
        #expect(token.expiry(at: 1, leeway: 4_000_000_000).outcome == .failed)
        #expect(token.expiry(at: 0, TimeRules(leeway: 1, acceptsLastSecond: true)).outcome == .failed)
    }

    @Test("A time that looks like milliseconds is told as seconds and as milliseconds")
    func looksLikeMilliseconds() throws {
        let token = ClaimTests.token("{\"exp\":1800000000000,\"nbf\":1800000000}")
        let remark = try #require(token.milliseconds(in: "exp"))
        #expect(remark.outcome == .noted)
        #expect(
            remark.note == "exp looks like milliseconds: as seconds it is after the year 9999, as milliseconds "
                + "2027-01-15T08:00:00Z. Divide by 1000.")
        #expect(token.milliseconds(in: "nbf") == nil)
        #expect(token.notBefore(at: 0, claim: "exp").note == remark.note)
    }

    @Test("An absent time fails where it is required, and is not judged elsewhere")
    func required() {
        let token = ClaimTests.token("{}")
        #expect(token.expiry(at: 0).outcome == .failed)
        #expect(token.expiry(at: 0, TimeRules(required: false)).outcome == .notJudged)
        let wrong = ClaimTests.token("{\"exp\":\"99999999999\"}")
        #expect(wrong.expiry(at: 0, TimeRules(required: false)).outcome == .failed)
    }

    @Test("A lifetime reaches from its start to exp")
    func lifetime() {
        let token = ClaimTests.token("{\"iat\":100,\"nbf\":200,\"exp\":1000}")
        #expect(token.lifetime(atMost: 800, from: .claims(["nbf", "iat"])).outcome == .passed)
        #expect(token.lifetime(atMost: 800, from: .claims(["iat", "nbf"])).outcome == .failed)
        #expect(token.lifetime(atMost: 799, from: .claims(["nbf"])).found == .seconds(800))
        #expect(token.lifetime(atMost: 10, from: .moment(990)).outcome == .passed)
        #expect(token.lifetime(atMost: 10, from: .claims(["x"])).outcome == .notJudged)
        #expect(ClaimTests.token("{}").lifetime(atMost: 10, from: .moment(0)).outcome == .notJudged)
    }

    @Test(
        "A moment is written as RFC 3339 and read back from its fields",
        arguments: [
            (0.0, "1970-01-01T00:00:00Z"), (1_520_869_470, "2018-03-12T15:44:30Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"), (1_800_001_799.25, "2027-01-15T08:29:59.250Z"),
            (-0.5, "1969-12-31T23:59:59.500Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"), (253_402_300_800, "after the year 9999"),
            (-62_135_596_800, "0001-01-01T00:00:00Z"), (-62_135_596_801, "before the year 1"), (.infinity, "no moment"),
            (.nan, "no moment"), (1e300, "after the year 9999"),
        ])
    func text(_ seconds: Double, _ text: String) {
        #expect(UnixTime.text(of: seconds) == text)
    }

    @Test("Fields become seconds, leap days included")
    func fields() {
        #expect(UnixTime.seconds(year: 1970, month: 1, day: 1, hour: 0, minute: 0, second: 0) == 0)
        #expect(UnixTime.seconds(year: 2000, month: 2, day: 29, hour: 0, minute: 0, second: 0) == 951_782_400)
        #expect(UnixTime.seconds(year: 2018, month: 3, day: 12, hour: 15, minute: 44, second: 30) == 1_520_869_470)
        #expect(UnixTime.seconds(year: 1969, month: 12, day: 31, hour: 23, minute: 59, second: 59) == -1)
    }
}
