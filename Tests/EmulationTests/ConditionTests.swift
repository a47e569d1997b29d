import JSON
import Testing
import Wire

@testable import Emulation

@Suite("Conditions")
struct ConditionTests {
    private static let matchContext = MatchContext(
        request: Request(
            method: .post, target: "/api/v1/users/a%20b?page=2&page=3&q=x",
            fields: ["X-Device": "phone-1", "Content-Type": "application/json", "X-Empty": ""],
            body: Array(
                #"{"email":"ada@example.test","age":36,"tags":["a","b"],"home":{"city":"Brno"},"none":null}"#.utf8)),
        claims: ["sub": "ada", "iat": 1_799_999_400, "exp": 1_800_000_060, "roles": ["user"]],
        moment: Moment(unixSeconds: 1_800_000_000), reason: "the signature does not match")

    @Test(
        "a condition holds",
        arguments: [
            "method: POST", "method: { not: GET }", "path: \"/api/v1/users/a b\"", "path: { like: \"/api/*/users/*\" }",
            "query: { page: 2 }", "query: { page: \"3\", q: x }", "query: { other: { present: false } }",
            "query: { page: { over: 2 } }", "header: { x-device: phone-1 }",
            "header: { X-DEVICE: { like: \"phone-?\" } }",
            "header: { x-empty: \"\" }", "header: { x-none: { not: a } }", "body: { email: ada@example.test }",
            "body: { age: 36 }", "body: { age: 36.0 }", "body: { age: { over: 35, under: 37 } }",
            "body: { none: null }",
            "body: { \"$.home.city\": Brno }", "body: { home: { is: { city: Brno } } }",
            "body: { tags: { contains: b } }",
            "body: { \"$.tags[*]\": a }", "body: { email: { contains: \"@example\" } }",
            "body: { nix: { present: false } }",
            "claims: { sub: ada }", "claims: { \"$.roles[0]\": user }", "token_age: { over: 9m }", "token_age: 600",
            "token_left: { under: 2m }", "reason: { contains: signature }", "{}",
        ])
    func holds(_ yaml: String) throws {
        let condition = try Rules.condition(yaml)
        #expect(condition.holds(for: Self.matchContext))
        #expect(condition.misses(for: Self.matchContext) == [])
    }

    @Test(
        "a condition does not hold, and says what it missed",
        arguments: [
            ("method: GET", "method", #""GET""#, "POST"),
            ("path: { like: \"/api/?/*\" }", "path", #"like "/api/?/*""#, "/api/v1/users/a b"),
            ("query: { page: 4 }", "query page", "4", "2, 3"),
            ("query: { page: { over: 2, under: 3 } }", "query page", "over 2, under 3", "2, 3"),
            ("header: { x-device: { not: phone-1 } }", "header x-device", #"not "phone-1""#, "phone-1"),
            ("header: { x-none: a }", "header x-none", #""a""#, nil),
            ("body: { age: \"thirty\" }", "body age", #""thirty""#, "36"),
            ("body: { \"$.home.zip\": { present: true } }", "body $.home.zip", "present true", nil),
            ("body: { email: { present: false } }", "body email", "present false", "ada@example.test"),
            ("claims: { sub: ben }", "claims sub", #""ben""#, "ada"),
            ("token_age: { over: 11m }", "token_age", #"over "11m""#, "600"),
            ("token_left: { under: 30 }", "token_left", "under 30", "60"),
            ("reason: expired", "reason", #""expired""#, "the signature does not match"),
        ] as [(String, String, String, String?)])
    func misses(_ yaml: String, _ condition: String, _ expected: String, _ found: String?) throws {
        let misses = try Rules.condition(yaml).misses(for: Self.matchContext)
        #expect(misses == [ExchangeCondition.Miss(condition: condition, expected: expected, found: found)])
        #expect(try !Rules.condition(yaml).holds(for: Self.matchContext))
    }

    @Test("a form's members are decoded, and other content has none")
    func forms() throws {
        let form = Request(
            method: .post, target: "/", fields: ["Content-Type": "application/x-www-form-urlencoded; charset=utf-8"],
            body: Array("grant_type=password&name=a+b%21".utf8))
        let matchContext = MatchContext(request: form, claims: nil, moment: Moment(unixSeconds: 0))
        #expect(try Rules.condition("form: { grant_type: password, name: \"a b!\" }").holds(for: matchContext))
        #expect(try !Rules.condition("form: { email: ada@example.test }").holds(for: Self.matchContext))
        #expect(try !Rules.condition("body: { grant_type: password }").holds(for: matchContext))
    }

    @Test("without a token nothing that asks for its claims or times holds")
    func noToken() throws {
        let matchContext = Rules.matchContext()
        for yaml in ["claims: { sub: ada }", "token_age: { over: 0 }", "token_left: { under: 99999999 }"] {
            #expect(try !Rules.condition(yaml).holds(for: matchContext))
        }
        #expect(try Rules.condition("claims: { sub: { present: false } }").holds(for: matchContext))
    }

    @Test(
        "a wildcard fits whole texts only, and quickly",
        arguments: [
            ("*", "", true), ("", "", true), ("", "a", false), ("a", "a", true), ("a", "ab", false),
            ("a*", "abc", true),
            ("*c", "abc", true), ("a*c", "abbc", true), ("a*c", "abcd", false), ("?", "ä", true), ("?", "", false),
            ("*a*b*", "xxaxxbxx", true), ("a**b", "ab", true), ("*.list", "book.list", true),
            ("*.list", "book.lists", false),
        ])
    func wildcards(_ pattern: String, _ text: String, _ fits: Bool) {
        #expect(Wildcard(pattern).matches(text) == fits)
    }

    @Test("a crafted wildcard does not take for ever")
    func craftedWildcard() {
        let pattern = String(repeating: "a*", count: 200) + "b"
        #expect(!Wildcard(pattern).matches(String(repeating: "a", count: 20_000)))
    }
}
