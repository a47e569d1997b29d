import Emulation
import Testing
import Tokens
import Wire

/// The facts that rules for a bearer token read.
private struct Presented: RuleFacts {
    enum Failure: String, VendorFailure {
        case refused
    }

    let bearer: BearerToken?
    var compact: CompactToken? { nil }
}

extension BearerToken {
    fileprivate func presence() -> Finding? {
        TokenRule<Presented>.bearerPresent("p", source: "s", .ours, orFail: .refused).finding(
            on: Presented(bearer: self))
    }

    fileprivate func oddity(toleratedBy tolerance: String? = nil) -> Finding? {
        TokenRule<Presented>.bearerOnce(orFail: .refused, toleratedBy: tolerance).lazy
            .compactMap { $0.finding(on: Presented(bearer: self)) }.first
    }
}

@Suite("A bearer token")
struct BearerTokenTests {
    /// A header value, whether the scheme may be doubled, and the token read from it.
    private static let readings: [(value: String, scheme: BearerToken.Scheme, token: String?)] = [
        ("Bearer a.b.c", .once, "a.b.c"), ("bEARER   a.b.c", .once, "a.b.c"), ("Bearer", .once, nil),
        ("Bearer ", .once, nil), ("a.b.c", .once, nil), ("Basic a", .once, nil), ("Bearer:a", .once, nil),
        ("Bearer Bearer a.b.c", .once, "Bearer a.b.c"), ("Bearer Bearer a.b.c", .upToTwice, "a.b.c"),
        ("Bearer a.b.c", .upToTwice, "a.b.c"), ("a.b.c", .upToTwice, "a.b.c"), ("Bearer Bearer", .upToTwice, nil),
        ("Bearer Bearer Bearer a", .upToTwice, "Bearer a"), ("", .upToTwice, nil), ("Basic a", .upToTwice, "Basic a"),
    ]

    @Test("is what follows the scheme", arguments: readings)
    func reading(_ value: String, _ scheme: BearerToken.Scheme, _ token: String?) {
        let read = BearerToken(["Authorization": value], scheme: scheme)
        #expect(read.bytes.map { String(decoding: $0, as: UTF8.self) } == token, "\(value)")
        #expect(read.presence()?.outcome == (token == nil ? .failed : .passed), "\(value)")
    }

    /// A header value, the token read from it where DPoP is a scheme too, and whether it was used.
    private static let others: [(value: String, token: String?, usesOther: Bool)] = [
        ("DPoP a.b.c", "a.b.c", true), ("dpop  a.b.c", "a.b.c", true), ("DPoP", nil, true), ("DPoPa.b.c", nil, false),
        ("Bearer a.b.c", "a.b.c", false), ("Bearer", nil, false), ("Basic a", nil, false), ("", nil, false),
    ]

    @Test("may follow another scheme where one is named", arguments: others)
    func otherScheme(_ value: String, _ token: String?, _ usesOther: Bool) {
        let read = BearerToken(["Authorization": value], orOf: "dpop")
        #expect(read.bytes.map { String(decoding: $0, as: UTF8.self) } == token, "\(value)")
        #expect(read.usesOtherScheme == usesOther, "\(value)")
        #expect(BearerToken(["Authorization": value]).usesOtherScheme == false)
        if usesOther { #expect(BearerToken(["Authorization": value]).bytes == nil, "\(value)") }
    }

    /// A header value and the sentence about it, which never repeats a possible secret.
    private static let sentences: [(value: String?, sentence: String)] = [
        (nil, "p: found no Authorization header; expected Authorization: Bearer TOKEN [s]"),
        ("", "p: found an empty Authorization header; expected Authorization: Bearer TOKEN [s]"),
        ("Bearer", "p: found nothing after Bearer in Authorization; expected Authorization: Bearer TOKEN [s]"),
        ("Basic YTpi", "p: found Authorization with the scheme Basic; expected Authorization: Bearer TOKEN [s]"),
        (
            "eyJh.eyJi.c2ln",
            "p: found Authorization with a token without the scheme Bearer before it; expected Authorization: Bearer TOKEN [s]"
        ),
        (
            "hunter2 hunter3",
            "p: found Authorization with a value without the scheme Bearer before it; expected Authorization: Bearer TOKEN [s]"
        ),
    ]

    @Test("that is not there is told by what is there", arguments: sentences)
    func presence(_ value: String?, _ sentence: String) {
        let token = BearerToken(FieldLines(value.map { [("authorization", $0)] } ?? []))
        #expect(token.presence()?.description == sentence)
        #expect(token.oddity() == nil)
    }

    @Test("in two lines is none, and the finding says whether they agree")
    func lines() throws {
        let other = BearerToken(["authorization": "Bearer a", "Authorization": "Bearer b"])
        let found = try #require(other.oddity())
        #expect(found.outcome == .failed)
        #expect(
            found.description.contains("found 2 of them, with different values; expected one Authorization header."))
        let same = BearerToken(["authorization": "Bearer a", "Authorization": "Bearer a"])
        #expect(same.oddity()?.description.contains("2 of them, all the same") == true)
        #expect(BearerToken(["authorization": "Bearer a,b"]).oddity() == nil, "one line with a comma")
    }

    @Test("with the scheme twice is refused with the switch that tolerates it, or noted where it passes")
    func twice() throws {
        let fields: FieldLines = ["authorization": "Bearer bearer a.b.c"]
        let refused = try #require(BearerToken(fields).oddity(toleratedBy: "scheme = lenient"))
        #expect(refused.outcome == .failed)
        #expect(
            refused.description.contains(
                "found Authorization: Bearer Bearer TOKEN; expected Authorization: Bearer TOKEN."))
        #expect(refused.note?.contains("Switch scheme = lenient tolerates it.") == true)
        #expect(BearerToken(fields, scheme: .upToTwice).oddity()?.outcome == .noted)
        #expect(BearerToken(["authorization": "Bearer a"], scheme: .upToTwice).oddity() == nil)
    }
}
