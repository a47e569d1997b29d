import JSON
import Testing
import Wire

@testable import Emulation

@Suite("What judging conditions may take")
struct WorkBudgetTests {
    /// Bodies of one shape, with a given number of elements.
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
        let matchContext = MatchContext(
            request: Request(method: .post, target: "/", body: content.bytes), claims: nil,
            moment: Moment(unixSeconds: 1), budget: WorkBudget(steps: all))
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
            let matchContext = MatchContext(
                request: Request(method: .post, target: "/", body: body.bytes), claims: nil,
                moment: Moment(unixSeconds: 1), budget: WorkBudget(steps: 50))
            #expect(
                try !Rules.condition("body: { \"$..*\": { \(condition) } }").holds(for: matchContext), "\(condition)")
            #expect(matchContext.budgetNote?.check == "conditions", "\(condition)")
        }
        // Nested lists, each containing the text of the inner ones: thirty megabytes to search.
        let matchContext = MatchContext(
            request: Request(method: .post, target: "/", body: body.bytes), claims: nil, moment: Moment(unixSeconds: 1))
        #expect(try !Rules.condition("body: { \"$..*\": { like: \"*b\" } }").holds(for: matchContext))
        #expect(matchContext.budgetNote != nil)
    }

    @Test("all conditions of an exchange share one budget")
    func shared() throws {
        let body = JSON.array((0..<1000).map { JSON($0) })
        let matchContext = MatchContext(
            request: Request(method: .post, target: "/", body: body.bytes), claims: nil, moment: Moment(unixSeconds: 1),
            budget: WorkBudget(steps: 10_000))
        let condition = try Rules.condition("body: { \"$[*]\": 999 }")
        #expect(condition.holds(for: matchContext))
        #expect(matchContext.budgetNote == nil)
        for _ in 0..<10 { _ = condition.holds(for: matchContext) }
        #expect(!condition.holds(for: matchContext))
        #expect(matchContext.budgetNote?.note?.contains("those that were left did not hold") == true)
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
        #expect(found == occurs)
    }

    @Test("no text is found anywhere once the budget is spent", arguments: ["", "a"])
    func patternBeyond(_ part: String) {
        var budget = WorkBudget(steps: 0)
        let found = BytePattern(part).occurs(in: String(repeating: "a", count: 10_000), within: &budget)
        #expect(!found)
    }
}
