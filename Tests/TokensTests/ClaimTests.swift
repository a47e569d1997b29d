import Expectations
import JSON
import Testing

@testable import Tokens

@Suite("Checks of header and claims") struct ClaimTests {
    static func token(_ payload: String, header: String = "{\"alg\":\"HS256\"}") -> CompactToken {
        CompactToken("\(Base64URL.encode(header.utf8)).\(Base64URL.encode(payload.utf8)).AA")
    }

    @Test("Presence tells absent from wrong, and lets optional members be absent") func presence() {
        let token = Self.token("{\"a\":\"\",\"b\":1.5,\"c\":2,\"d\":null,\"e\":[1],\"f\":{}}")
        expect(token.claim("a", is: .string).outcome, is: .passed)
        expect(token.claim("a", is: .nonEmptyString).outcome, is: .failed)
        expect(token.claim("b", is: .number).outcome, is: .passed)
        expect(token.claim("b", is: .integer).outcome, is: .failed)
        expect(token.claim("c", is: [.nonEmptyString, .integer]).outcome, is: .passed)
        expect(token.claim("d", is: .string).found, is: .json(nil))
        expect(token.claim("e", is: [.string, .array]).outcome, is: .passed)
        expect(token.claim("f", is: .object).outcome, is: .passed)
        expect(token.claim("x", is: .any).outcome, is: .failed)
        expect(token.claim("x", is: .any).found, is: .absent)
        expect(token.claim("x", is: .any, required: false).outcome, is: .passed)
        expect(token.claim("d", is: .any).outcome, is: .passed)
    }

    @Test("Equality is byte for byte and of one type") func equality() {
        let token = Self.token("{\"iss\":\"caf\u{E9}\",\"n\":1.0,\"o\":{\"a\":1}}")
        expect(token.claim("iss", equals: "caf\u{E9}").outcome, is: .passed)
        expect(token.claim("iss", equals: "cafe\u{301}").outcome, is: .failed)
        expect(token.claim("iss", equals: "caf\u{E9}/").outcome, is: .failed)
        expect(token.claim("n", equals: "1.0").outcome, is: .failed)
        expect(token.claim("n", equals: 1 as JSON).outcome, is: .failed)
        expect(token.claim("o", equals: ["a": 1] as JSON).outcome, is: .passed)
        expect(token.claim("x", equals: "y").outcome, is: .failed)
        expect(token.claim("iss", equals: "x").check, is: "claim-iss-equals")
        expect(token.headerMember("alg", equals: "HS256").check, is: "header-alg-equals")
    }

    @Test(
        "An audience is a string or an array that holds it; an absent one fails",
        arguments: [
            ("\"a\"", true, true), ("[\"b\",\"a\"]", true, false), ("[]", false, false), ("\"A\"", false, false),
            ("[[\"a\"]]", false, false), ("{\"a\":1}", false, false), ("\"a \"", false, false), ("null", false, false),
            ("[1,\"a\"]", true, false),
        ])
    func audience(_ text: String, _ passes: Bool, _ passesWithoutArrays: Bool) {
        let token = Self.token("{\"aud\":\(text)}")
        expect(token.audience(isOneOf: ["a"]).outcome, is: (passes ? .passed : .failed))
        expect(
            token.audience(isOneOf: ["a"], acceptsArray: false).outcome, is: (passesWithoutArrays ? .passed : .failed))
        expect(token.audience(isOneOf: []).outcome, is: .failed)
        expect(Self.token("{}").audience(isOneOf: ["a"]).outcome, is: .failed)
    }

    @Test("Nothing is judged without claims or header, and nothing passes") func unreadable() throws {
        let token = CompactToken("%.%.%")
        let key = try VerificationKey.secret("s")
        let findings = [
            token.algorithm(is: .hs256), token.type(is: "JWT"), token.critical(), token.claim("a", is: .any),
            token.claim("a", equals: "b"), token.audience(isOneOf: ["a"]), token.expiry(at: 0), token.notBefore(at: 0),
            token.issuedAt(at: 0), token.lifetime(atMost: 1, from: .moment(0)),
        ]
        expectEmpty(findings.filter { $0.outcome != .notJudged })
        expect(token.signature(by: key, algorithm: .hs256).outcome, is: .failed)
        expect(token.keyReferences(), is: nil)
    }

    @Test(
        "A type is compared without regard to case, and only ASCII case",
        arguments: [
            ("\"JWT\"", true), ("\"jwt\"", true), ("\"at+jwt\"", false), ("\"\"", false), ("1", false), ("null", false),
        ])
    func type(_ text: String, _ passes: Bool) {
        let token = Self.token("{}", header: "{\"typ\":\(text)}")
        expect(token.type(is: "JWT").outcome, is: (passes ? .passed : .failed))
        expect(Self.token("{}", header: "{}").type(is: "JWT").outcome, is: .passed)
        expect(Self.token("{}", header: "{}").type(is: "JWT", required: true).outcome, is: .failed)
    }

    @Test("A failure becomes a remark where a rule is only advice, and nothing else changes") func noted() {
        expect(Self.token("{}").claim("x", is: .any).noted.outcome, is: .noted)
        expect(Self.token("{\"x\":1}").claim("x", is: .any).noted.outcome, is: .passed)
    }

    @Test("A finding is readable for people and for programs") func rendering() {
        let finding = Self.token("{\"exp\":1800001800}").expiry(at: 1_800_001_800)
        expect(
            finding.description,
            is: "expiry: found 1800001800 (2027-01-15T08:30:00Z); "
                + "expected later than 1800001800 (2027-01-15T08:30:00Z) [RFC 7519 section 4.1.4]")
        expect(finding.json["check"], is: "expiry")
        expect(finding.json["outcome"], is: "failed")
        expect(finding.json["found"], is: "1800001800 (2027-01-15T08:30:00Z)")
        expect(finding.json["note"], is: nil)
    }
}

@Suite("Times in tokens") struct TimeTests {
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
            ("\"\"", .otherType, .usual), ("\" \"", .otherType, .usual), ("true", .otherType, .usual),
            ("null", .otherType, .usual), ("[1800000000]", .otherType, .usual), ("{}", .otherType, .usual),
        ])
    func forms(_ text: String, _ form: NumericDate.Form, _ size: NumericDate.Size) throws {
        let date = NumericDate(try JSON.parse(text.utf8))
        expect(date.form, is: form)
        expect(date.size, is: size)
        expect((date.seconds() != nil), is: (date.isNumber && size != .excessive))
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
        expect(token.expiry(at: moment, rules).outcome, is: (passes ? .passed : .failed))
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
        expect(token.notBefore(at: moment, rules).outcome, is: (passes ? .passed : .failed))
        expect(token.issuedAt(at: moment, rules).outcome, is: (passes ? .passed : .failed))
    }

    @Test("Milliseconds are seconds far away, unless they are to be read as such") func milliseconds() {
        let token = ClaimTests.token("{\"exp\":1800000000000}")
        let finding = token.expiry(at: 1_800_000_001)
        expect(finding.outcome, is: .passed)
        #expect(finding.note != nil)
        expect(token.expiry(at: 1_800_000_001, TimeRules(readsMilliseconds: true)).outcome, is: .failed)
        expect(token.expiry(at: 1_799_999_999, TimeRules(readsMilliseconds: true)).outcome, is: .passed)
    }

    @Test("An exp that is not above 0 is over at any leeway", arguments: ["0", "-1", "-0", "0.0", "-1e300"])
    func neverBegan(_ expiry: String) {
        let token = ClaimTests.token("{\"exp\":\(expiry)}")
        expect(token.expiry(at: 1, leeway: 4_000_000_000).outcome, is: .failed)
        expect(token.expiry(at: 0, TimeRules(leeway: 1, acceptsLastSecond: true)).outcome, is: .failed)
    }

    @Test("A time that looks like milliseconds is told as seconds and as milliseconds")
    func looksLikeMilliseconds() throws {
        let token = ClaimTests.token("{\"exp\":1800000000000,\"nbf\":1800000000}")
        let remark = try #require(token.milliseconds(in: "exp"))
        expect(remark.outcome, is: .noted)
        expect(
            remark.note,
            is: "exp looks like milliseconds: as seconds it is after the year 9999, as milliseconds "
                + "2027-01-15T08:00:00Z. Divide by 1000.")
        expect(token.milliseconds(in: "nbf"), is: nil)
        expect(token.notBefore(at: 0, claim: "exp").note, is: remark.note)
    }

    @Test("An absent time fails where it is required, and is not judged elsewhere") func required() {
        expect(NumericDate(nil).form, is: .absent)
        expect(NumericDate(nil).seconds(), is: nil)
        let token = ClaimTests.token("{}")
        expect(token.expiry(at: 0).outcome, is: .failed)
        expect(token.expiry(at: 0, TimeRules(required: false)).outcome, is: .notJudged)
        let wrong = ClaimTests.token("{\"exp\":\"99999999999\"}")
        expect(wrong.expiry(at: 0, TimeRules(required: false)).outcome, is: .failed)
    }

    @Test("A lifetime reaches from its start to exp") func lifetime() {
        let token = ClaimTests.token("{\"iat\":100,\"nbf\":200,\"exp\":1000}")
        expect(token.lifetime(atMost: 800, from: .claims(["nbf", "iat"])).outcome, is: .passed)
        expect(token.lifetime(atMost: 800, from: .claims(["iat", "nbf"])).outcome, is: .failed)
        expect(token.lifetime(atMost: 799, from: .claims(["nbf"])).found, is: .seconds(800))
        expect(token.lifetime(atMost: 10, from: .moment(990)).outcome, is: .passed)
        expect(token.lifetime(atMost: 10, from: .claims(["x"])).outcome, is: .notJudged)
        expect(ClaimTests.token("{}").lifetime(atMost: 10, from: .moment(0)).outcome, is: .notJudged)
    }

    @Test(
        "A moment is written as RFC 3339 and read back from its fields",
        arguments: [
            (0.0, "1970-01-01T00:00:00Z"), (1_520_869_470, "2018-03-12T15:44:30Z"),
            (951_782_400, "2000-02-29T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
            (1_800_001_799.25, "2027-01-15T08:29:59.250Z"), (-0.5, "1969-12-31T23:59:59.500Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"), (253_402_300_800, "after the year 9999"),
            (-62_135_596_800, "0001-01-01T00:00:00Z"), (-62_135_596_801, "before the year 1"), (.infinity, "no moment"),
            (.nan, "no moment"), (1e300, "after the year 9999"),
        ])
    func text(_ seconds: Double, _ text: String) { expect(UnixTime.text(of: seconds), is: text) }

    @Test("Fields become seconds, leap days included") func fields() {
        expect(UnixTime.seconds(year: 1970, month: 1, day: 1, hour: 0, minute: 0, second: 0), is: 0)
        expect(UnixTime.seconds(year: 2000, month: 2, day: 29, hour: 0, minute: 0, second: 0), is: 951_782_400)
        expect(UnixTime.seconds(year: 2018, month: 3, day: 12, hour: 15, minute: 44, second: 30), is: 1_520_869_470)
        expect(UnixTime.seconds(year: 1969, month: 12, day: 31, hour: 23, minute: 59, second: 59), is: -1)
    }
}

@Suite("base64url") struct Base64URLTests {
    @Test("Every length and every byte survives the way there and back") func roundTrip() throws {
        for count in 0...260 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ count) }
            let text = Base64URL.encode(bytes)
            expect(text.filter { "=+/".contains($0) }, is: "", text)
            expect(try Base64URL.decode(text.utf8), is: bytes)
        }
    }

    @Test(
        "The examples of RFC 4648 section 10 come out without padding",
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"),
        ])
    func examples(_ text: String, _ encoded: String) throws {
        expect(Base64URL.encode(text.utf8), is: encoded)
        expect(try Base64URL.decode(encoded.utf8), is: Array(text.utf8))
    }

    @Test("Exactly one text stands for some bytes") func unique() throws {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var decodable = 0
        for first in alphabet {
            for second in alphabet where (try? Base64URL.decode([first, second])) != nil { decodable += 1 }
        }
        expect(decodable, is: 256)
    }

    @Test(
        "Each fault has its name",
        arguments: [
            ("Zg=", Base64URL.Fault.padding), ("Zg==", .padding), ("=", .padding), ("Zm+v", .standardAlphabet(0x2B)),
            ("Zm/v", .standardAlphabet(0x2F)), ("Zm v", .whiteSpace(0x20)), ("Zm9v\n", .whiteSpace(0x0A)),
            ("Zm9!", .foreignByte(0x21)), ("Z\u{0}9v", .foreignByte(0)), ("Zm9vY", .length(5)), ("Z", .length(1)),
            ("Zh", .unusedBits), ("Zm9", .unusedBits),
        ])
    func faults(_ text: String, _ fault: Base64URL.Fault) { expect(throws: fault) { try Base64URL.decode(text.utf8) } }

    @Test("A lenient reader takes both alphabets, padding and unused bits, and nothing else") func lenient() {
        expect(Base64URL.decodeLeniently("-_-_".utf8), is: [0xFB, 0xFF, 0xBF])
        expect(Base64URL.decodeLeniently("+/+/".utf8), is: [0xFB, 0xFF, 0xBF])
        expect(Base64URL.decodeLeniently("Zg==".utf8), is: [0x66])
        expect(Base64URL.decodeLeniently("Zh".utf8), is: [0x66])
        expect(Base64URL.decodeLeniently("Zm9".utf8), is: [0x66, 0x6F])
        expect(Base64URL.decodeLeniently("Zm 9".utf8), is: nil)
        expect(Base64URL.decodeLeniently("Z".utf8), is: nil)
        expect(Base64URL.decodeLeniently("Zg=g".utf8), is: nil)
    }
}
