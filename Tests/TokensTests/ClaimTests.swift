import JSON
import Testing
import Tokens

@Suite("Checks of header and claims")
struct ClaimTests {
    static func token(_ payload: String, header: String = "{\"alg\":\"HS256\"}") -> CompactToken {
        CompactToken("\(Base64URL.encode(header.utf8)).\(Base64URL.encode(payload.utf8)).AA")
    }

    @Test("Presence tells absent from wrong, and lets optional members be absent")
    func presence() {
        let token = Self.token("{\"a\":\"\",\"b\":1.5,\"c\":2,\"d\":null,\"e\":[1],\"f\":{}}")
        #expect(token.claim("a", is: .string).outcome == .passed)
        #expect(token.claim("a", is: .nonEmptyString).outcome == .failed)
        #expect(token.claim("b", is: .number).outcome == .passed)
        #expect(token.claim("b", is: .integer).outcome == .failed)
        #expect(token.claim("c", is: [.nonEmptyString, .integer]).outcome == .passed)
        #expect(token.claim("d", is: .string).found == .json(nil))
        #expect(token.claim("e", is: [.string, .array]).outcome == .passed)
        #expect(token.claim("f", is: .object).outcome == .passed)
        #expect(token.claim("x", is: .any).outcome == .failed)
        #expect(token.claim("x", is: .any).found == .absent)
        #expect(token.claim("x", is: .any, required: false).outcome == .passed)
        #expect(token.claim("d", is: .any).outcome == .passed)
    }

    @Test("Equality is byte for byte and of one type")
    func equality() {
        let token = Self.token("{\"iss\":\"caf\u{E9}\",\"n\":1.0,\"o\":{\"a\":1}}")
        #expect(token.claim("iss", equals: "caf\u{E9}").outcome == .passed)
        #expect(token.claim("iss", equals: "cafe\u{301}").outcome == .failed)
        #expect(token.claim("iss", equals: "caf\u{E9}/").outcome == .failed)
        #expect(token.claim("n", equals: "1.0").outcome == .failed)
        #expect(token.claim("n", equals: 1 as JSON).outcome == .failed)
        #expect(token.claim("o", equals: ["a": 1] as JSON).outcome == .passed)
        #expect(token.claim("x", equals: "y").outcome == .failed)
        #expect(token.claim("iss", equals: "x").check == "claim-iss-equals")
        #expect(token.headerMember("alg", equals: "HS256").check == "header-alg-equals")
    }

    @Test(
        "An audience is a string or an array that holds it",
        arguments: [
            ("\"a\"", true, true), ("[\"b\",\"a\"]", true, false), ("[]", false, false), ("\"A\"", false, false),
            ("[[\"a\"]]", false, false), ("{\"a\":1}", false, false), ("\"a \"", false, false), ("null", false, false),
            ("[1,\"a\"]", true, false),
        ])
    func audience(_ text: String, _ passes: Bool, _ passesWithoutArrays: Bool) {
        let token = Self.token("{\"aud\":\(text)}")
        #expect(token.audience(isOneOf: ["a"]).outcome == (passes ? .passed : .failed))
        #expect(
            token.audience(isOneOf: ["a"], acceptsArray: false).outcome == (passesWithoutArrays ? .passed : .failed))
        #expect(token.audience(isOneOf: []).outcome == .failed)
    }

    @Test("An absent audience fails unless it is optional")
    func absentAudience() {
        #expect(Self.token("{}").audience(isOneOf: ["a"]).outcome == .failed)
    }

    @Test("Nothing is judged without claims or header, and nothing passes")
    func unreadable() throws {
        let token = CompactToken("%.%.%")
        let key = try VerificationKey.secret("s")
        let findings = [
            token.algorithm(is: .hs256), token.type(is: "JWT"), token.critical(), token.claim("a", is: .any),
            token.claim("a", equals: "b"), token.audience(isOneOf: ["a"]), token.expiry(at: 0), token.notBefore(at: 0),
            token.issuedAt(at: 0), token.lifetime(atMost: 1, from: .moment(0)),
        ]
        #expect(findings.allSatisfy { $0.outcome == .notJudged })
        #expect(token.signature(by: key, algorithm: .hs256).outcome == .failed)
        #expect(token.keyReferences() == nil)
    }

    @Test(
        "A type is compared without regard to case, and only ASCII case",
        arguments: [
            ("\"JWT\"", true), ("\"jwt\"", true), ("\"at+jwt\"", false), ("\"\"", false), ("1", false), ("null", false),
        ])
    func type(_ text: String, _ passes: Bool) {
        let token = Self.token("{}", header: "{\"typ\":\(text)}")
        #expect(token.type(is: "JWT").outcome == (passes ? .passed : .failed))
        #expect(Self.token("{}", header: "{}").type(is: "JWT").outcome == .passed)
        #expect(Self.token("{}", header: "{}").type(is: "JWT", required: true).outcome == .failed)
    }

    @Test("A failure becomes a remark where a rule is only advice, and nothing else changes")
    func noted() {
        #expect(Self.token("{}").claim("x", is: .any).noted.outcome == .noted)
        #expect(Self.token("{\"x\":1}").claim("x", is: .any).noted.outcome == .passed)
    }

    @Test("A finding is readable for people and for programs")
    func rendering() {
        let finding = Self.token("{\"exp\":1800001800}").expiry(at: 1_800_001_800)
        #expect(
            finding.description
                == "expiry: found 1800001800 (2027-01-15T08:30:00Z); "
                + "expected later than 1800001800 (2027-01-15T08:30:00Z) [RFC 7519 section 4.1.4]")
        #expect(finding.json["check"] == "expiry")
        #expect(finding.json["outcome"] == "failed")
        #expect(finding.json["found"] == "1800001800 (2027-01-15T08:30:00Z)")
        #expect(finding.json["note"] == nil)
    }
}
