import Expectations
import JSON
import Testing
import Tokens
import Wire

@testable import Emulation

@Suite("Conditions") struct ConditionTests {
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
            "method: POST", "method: { not: GET }", #"path: "/api/v1/users/a b""#,
            #"path: { like: "/api/*/users/*" }"#, "query: { page: 2 }", #"query: { page: "3", q: x }"#,
            "query: { other: { present: false } }", "query: { page: { over: 2 } }", "header: { x-device: phone-1 }",
            #"header: { X-DEVICE: { like: "phone-?" } }"#, #"header: { x-empty: "" }"#,
            "header: { x-none: { not: a } }", "body: { email: ada@example.test }", "body: { age: 36 }",
            "body: { age: 36.0 }", "body: { age: { over: 35, under: 37 } }", "body: { none: null }",
            #"body: { "$.home.city": Brno }"#, "body: { home: { is: { city: Brno } } }",
            "body: { tags: { contains: b } }", #"body: { "$.tags[*]": a }"#,
            #"body: { email: { contains: "@example" } }"#, "body: { nix: { present: false } }", "claims: { sub: ada }",
            #"claims: { "$.roles[0]": user }"#, "token_age: { over: 9m }", "token_age: 600",
            "token_left: { under: 2m }", "reason: { contains: signature }", "{}",
        ])
    func holds(_ yaml: String) throws {
        let condition = try Rules.condition(yaml)
        #expect(condition.holds(for: Self.matchContext))
        expect(condition.misses(for: Self.matchContext), is: [])
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
        expect(misses, is: [ExchangeCondition.Miss(condition: condition, expected: expected, found: found)])
        #expect(try !Rules.condition(yaml).holds(for: Self.matchContext))
    }

    @Test("a form's members are decoded, and other content has none") func forms() throws {
        let form = Request(
            method: .post, target: "/", fields: ["Content-Type": "application/x-www-form-urlencoded; charset=utf-8"],
            body: Array("grant_type=password&name=a+b%21".utf8))
        let matchContext = MatchContext(request: form, claims: nil, moment: Moment(unixSeconds: 0))
        #expect(try Rules.condition("form: { grant_type: password, name: \"a b!\" }").holds(for: matchContext))
        #expect(try !Rules.condition("form: { email: ada@example.test }").holds(for: Self.matchContext))
        #expect(try !Rules.condition("body: { grant_type: password }").holds(for: matchContext))
    }

    @Test("without a token nothing that asks for its claims or times holds") func noToken() throws {
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
            ("a*", "abc", true), ("*c", "abc", true), ("a*c", "abbc", true), ("a*c", "abcd", false), ("?", "ä", true),
            ("?", "", false), ("*a*b*", "xxaxxbxx", true), ("a**b", "ab", true), ("*.list", "book.list", true),
            ("*.list", "book.lists", false),
        ])
    func wildcards(_ pattern: String, _ text: String, _ fits: Bool) {
        expect(Wildcard(pattern).matches(text), is: fits)
    }

    @Test("a crafted wildcard does not take for ever") func craftedWildcard() {
        let pattern = String(repeating: "a*", count: 200) + "b"
        #expect(!Wildcard(pattern).matches(String(repeating: "a", count: 20_000)))
    }
}

/// Bodies with placeholders in strings, where the result must stay a string.
@Suite("Bodies that keep their texts") struct BodyTemplateTests {
    private func body(_ json: JSON, _ values: JSONObject) throws -> JSON {
        try BodyTemplate(json, at: FixtureNode(json, from: "test"), roots: ["customer"], keepsText: true).body(values)
    }

    @Test(
        "a string stays one, whatever it names",
        arguments: [
            (JSON.string("Ada"), "Ada"), (7, "7"), (true, "true"), (["a": 1], #"{"a":1}"#), (.null, ""),
        ] as [(JSON, String)])
    func texts(_ value: JSON, _ text: String) throws {
        let values: JSONObject = ["customer": ["name": value]]
        expect(
            try body(["a": "{{customer.name}}", "b": ["x {{customer.name}}", 1]], values),
            is: ["a": .string(text), "b": [.string("x " + text), 1]])
    }

    @Test("what is not there is empty text, and a section can stand in for it") func absent() throws {
        let template: JSON = "{{customer.name}}{{^customer.name}}there{{/customer.name}}"
        expect(try body(template, ["customer": [:]]), is: "there")
        expect(try body(template, ["customer": ["name": "Ada"]]), is: "Ada")
        expect(try body("{{customer.name}}", [:]), is: "")
    }

    @Test("what nothing can name is refused")
    func unknownRoot() { #expect(throws: FixtureProblem.self) { try body("{{reader.name}}", [:]) } }
}

@Suite("What judging conditions may take") struct WorkBudgetTests {
    enum Shape: String, CaseIterable {
        case wide, long, deep

        func content(_ count: Int) -> JSON {
            switch self {
            case .wide: .object(["a": .object(JSONObject((0..<count).map { ("m\($0)", JSON($0)) }))])
            case .long: .object(["a": .string(String(repeating: "a", count: 16 * count))])
            // Nested as deeply as allowed; wider with the count.
            case .deep: (0..<50).reduce(.array((0..<count).map { JSON($0) })) { inner, _ in .array([inner]) }
            }
        }
    }

    private static func matchContext(_ body: JSON, steps: Int = WorkBudget.standardSteps) -> MatchContext {
        MatchContext(
            request: Request(method: .post, target: "/", body: body.bytes), claims: nil,
            moment: Moment(unixSeconds: 1), budget: WorkBudget(steps: steps))
    }

    private static let paths = [
        "$", "$.a", "$..*", "$..a", "$.*", "$[0:9]", "$..[?@ > 5]", "$..[?@.a]", "$..[?@ == $.a]",
    ]
    private static let matchers: [(String, String)] = [
        ("is", "\"x\""), ("is", "[1,2]"), ("not", "7"), ("contains", "\"aab\""), ("like", "\"*a?b\""), ("over", "1e9"),
        ("under", "-1"), ("present", "true"),
    ]

    private static func steps(_ path: String, _ matcher: (String, String), _ content: JSON) throws -> Int {
        let text = #"{"body":{"\#(path)":{"\#(matcher.0)":\#(matcher.1)}}}"#
        let node = FixtureNode(try JSON.parse(text.utf8), from: "condition")
        let condition = try ExchangeCondition(try node.mapping(ExchangeCondition.members))
        let all = 1 << 40
        let matchContext = Self.matchContext(content, steps: all)
        _ = condition.holds(for: matchContext)
        return all - matchContext.spending(\.left)
    }

    @Test(
        "of twice the content no path and no matcher takes more than twice the steps",
        arguments: paths, Shape.allCases)
    func growth(_ path: String, _ shape: Shape) throws {
        for matcher in Self.matchers {
            let (once, twice) = try (
                Self.steps(path, matcher, shape.content(500)), Self.steps(path, matcher, shape.content(1000))
            )
            #expect(Double(twice) <= 2.2 * Double(once) + 200, "\(path) \(matcher), \(shape): \(once), then \(twice)")
        }
    }

    @Test("lists inside lists have each text of theirs counted, and what is beyond the budget does not hold")
    func spent() throws {
        let body = (0..<60).reduce(JSON.string(String(repeating: "a", count: 500_000))) { inner, _ in .array([inner]) }
        for condition in ["contains: b", "like: \"*b\"", "not: 1", "present: false"] {
            let matchContext = Self.matchContext(body, steps: 50)
            let judged = try Rules.condition("body: { \"$..*\": { \(condition) } }")
            #expect(!judged.holds(for: matchContext), "\(condition)")
            expect(matchContext.budgetNote?.check, is: "conditions", "\(condition)")
        }
        // Nested lists, each containing the text of the inner ones: thirty megabytes to search.
        let matchContext = Self.matchContext(body)
        #expect(try !Rules.condition("body: { \"$..*\": { like: \"*b\" } }").holds(for: matchContext))
        #expect(matchContext.budgetNote != nil)
    }

    @Test("all conditions of an exchange share one budget") func shared() throws {
        let matchContext = Self.matchContext(.array((0..<1000).map { JSON($0) }), steps: 10_000)
        let condition = try Rules.condition("body: { \"$[*]\": 999 }")
        #expect(condition.holds(for: matchContext))
        expect(matchContext.budgetNote, is: nil)
        for _ in 0..<10 { _ = condition.holds(for: matchContext) }
        #expect(!condition.holds(for: matchContext))
        expect(matchContext.budgetNote?.note?.contains("the rest counted as not met"), is: true)
    }

    @Test(
        "a text is found where it occurs, whatever both are made of",
        arguments: [
            ("aab", "aaaaab", true), ("aab", "aaaaac", false), ("abab", "abaabab", true), ("", "x", true),
            ("x", "", false), ("aabaaa", "aabaabaaa", true), ("ä", "aä", true), ("ab", "ba", false),
        ])
    func pattern(_ part: String, _ text: String, _ occurs: Bool) {
        var budget = WorkBudget()
        let found = BytePattern(part).occurs(in: text, within: &budget)
        expect(found, is: occurs)
    }

    @Test("no text is found anywhere once the budget is spent", arguments: ["", "a"])
    func patternBeyond(_ part: String) {
        var budget = WorkBudget(steps: 0)
        let found = BytePattern(part).occurs(in: String(repeating: "a", count: 10_000), within: &budget)
        #expect(!found)
    }
}

private struct Presented: RuleFacts {
    enum Failure: String, VendorFailure {
        case refused
    }

    let bearer: BearerToken?
    var compact: CompactToken? { nil }
}

extension BearerToken {
    fileprivate func presence() -> Finding? {
        TokenRule<Presented>.bearerPresent("p", source: "s", .ours, orFail: .refused).finding(on: .init(bearer: self))
    }

    fileprivate func oddity(toleratedBy tolerance: String? = nil) -> Finding? {
        TokenRule<Presented>.bearerOnce(orFail: .refused, toleratedBy: tolerance).lazy
            .compactMap { $0.finding(on: Presented(bearer: self)) }.first
    }
}

@Suite("A bearer token") struct BearerTokenTests {
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
        expect(read.bytes.map { String(decoding: $0, as: UTF8.self) }, is: token, "\(value)")
        expect(read.presence()?.outcome, is: (token == nil ? .failed : .passed), "\(value)")
    }

    /// A header value, the token read from it where DPoP is a scheme too, and whether it was used.
    private static let others: [(value: String, token: String?, usesOther: Bool)] = [
        ("DPoP a.b.c", "a.b.c", true), ("dpop  a.b.c", "a.b.c", true), ("DPoP", nil, true), ("DPoPa.b.c", nil, false),
        ("Bearer a.b.c", "a.b.c", false), ("Bearer", nil, false), ("Basic a", nil, false), ("", nil, false),
    ]

    @Test("may follow another scheme where one is named", arguments: others)
    func otherScheme(_ value: String, _ token: String?, _ usesOther: Bool) {
        let read = BearerToken(["Authorization": value], orOf: "dpop")
        expect(read.bytes.map { String(decoding: $0, as: UTF8.self) }, is: token, "\(value)")
        expect(read.usesOtherScheme, is: usesOther, "\(value)")
        expect(BearerToken(["Authorization": value]).usesOtherScheme, is: false)
        if usesOther { expect(BearerToken(["Authorization": value]).bytes, is: nil, "\(value)") }
    }

    /// A header value and what is told of it, which never repeats a possible secret.
    private static let absent: [(value: String?, found: String)] = [
        (nil, "no Authorization header"), ("", "an empty Authorization header"),
        ("Bearer", "nothing after Bearer in Authorization"), ("Basic YTpi", "Authorization with the scheme Basic"),
        ("eyJh.eyJi.c2ln", "Authorization with a token without the scheme Bearer before it"),
        ("hunter2 hunter3", "Authorization with a value without the scheme Bearer before it"),
    ]

    @Test("that is not there is told by what is there", arguments: absent)
    func presence(_ value: String?, _ found: String) {
        let token = BearerToken(FieldLines(value.map { [("authorization", $0)] } ?? []))
        let sentence = "p: found \(found); expected Authorization: Bearer TOKEN [s]"
        expect(token.presence()?.description, is: sentence)
        expect(token.oddity(), is: nil)
    }

    @Test("in two lines is none, and the finding says whether they agree") func lines() throws {
        let other = BearerToken(["authorization": "Bearer a", "Authorization": "Bearer b"])
        let found = try #require(other.oddity())
        expect(found.outcome, is: .failed)
        #expect(
            found.description.contains("found 2 of them, with different values; expected one Authorization header."))
        let same = BearerToken(["authorization": "Bearer a", "Authorization": "Bearer a"])
        expect(same.oddity()?.description.contains("2 of them, all the same"), is: true)
        expect(BearerToken(["authorization": "Bearer a,b"]).oddity(), is: nil, "one line with a comma")
    }

    @Test("with the scheme twice is refused with the switch that tolerates it, or noted where it passes")
    func twice() throws {
        let fields: FieldLines = ["authorization": "Bearer bearer a.b.c"]
        let refused = try #require(BearerToken(fields).oddity(toleratedBy: "scheme = lenient"))
        expect(refused.outcome, is: .failed)
        #expect(
            refused.description.contains(
                "found Authorization: Bearer Bearer TOKEN; expected Authorization: Bearer TOKEN."))
        expect(refused.note?.contains("Switch scheme = lenient tolerates it."), is: true)
        expect(BearerToken(fields, scheme: .upToTwice).oddity()?.outcome, is: .noted)
        expect(BearerToken(["authorization": "Bearer a"], scheme: .upToTwice).oddity(), is: nil)
    }
}
