import Expectations
import HTTPTypes
import JSON
import Testing
import Tokens
import Wire

@testable import Emulation

@Suite("Faults") struct FaultTests {
    @Test(
        "a fault strikes the calls that it is for, as often as it says",
        arguments: [
            ("{ route: r, fail: f }", "x.....", 0), ("{ route: r, call: 3, fail: f }", "..x...", 0),
            ("{ route: r, fail: f, times: 2 }", "xx....", 0), ("{ route: r, call: 2, fail: f, times: 3 }", ".xxx..", 0),
            ("{ route: r, fail: f, times: always }", "xxxxxx", 1), ("{ route: r, every: 2, fail: f }", ".x.x.x", 1),
            ("{ route: r, every: 2, fail: f, times: 2 }", ".x.x..", 0),
            ("{ route: r, probability: 1, fail: f }", "xxxxxx", 1),
            ("{ route: r, probability: 0, fail: f }", "......", 1), ("{ fail: f, call: 2 }", ".x....", 0),
            ("{ route: q, fail: f }", "......", 1), ("{ route: [q, r], fail: f }", "x.....", 0),
            ("{ route: \"book.*\", fail: f }", "......", 1),
        ])
    func pattern(_ yaml: String, _ pattern: String, _ left: Int) throws {
        var interventions = Interventions(seed: 1)
        interventions.arm([try Rules.fault(yaml)])
        let outcomes = interventions.outcomes(Array(repeating: "r", count: 6))
        expect(outcomes.map { $0 == nil ? "." : "x" }.joined(), is: pattern)
        expect(interventions.faults.count, is: left)
    }

    @Test("of two that are due at once the second strikes the next call, and another vendor's calls do not count")
    func queue() throws {
        var interventions = Interventions(seed: 1)
        interventions.arm([
            try Rules.fault("{ route: r, call: 2, fail: f }"), try Rules.fault("{ route: r, call: 2, fail: busy }"),
        ])
        expect(interventions.outcomes(["r", "r"], vendor: "w"), is: [nil, nil])
        expect(interventions.outcomes(["r", "q", "r", "r", "r"]), is: [nil, nil, "f", "busy", nil])
        #expect(interventions.isEmpty)
    }

    @Test("a hit that another fault took comes at the next call") func owed() throws {
        var interventions = Interventions(seed: 1)
        interventions.arm([
            try Rules.fault("{ route: r, every: 2, fail: busy }"), try Rules.fault("{ route: r, every: 4, fail: f }"),
        ])
        let outcomes = interventions.outcomes(Array(repeating: "r", count: 9))
        expect(outcomes, is: [nil, "busy", nil, "busy", "f", "busy", nil, "busy", "f"])
    }

    @Test("a seed makes a probability repeatable, another seed gives other calls; without one the sandbox's decides")
    func seeds() throws {
        let strikes = { (members: String, sandbox: UInt64?) in
            var interventions = Interventions(seed: sandbox)
            interventions.arm([try Rules.fault("{ route: r, probability: 0.5, \(members) }")])
            return interventions.outcomes(Array(repeating: "r", count: 64))
        }
        #expect(try strikes("seed: 7, fail: f", nil) == strikes("seed: 7, fail: f", 3))
        #expect(try strikes("seed: 7, fail: f", nil) != strikes("seed: 8, fail: f", nil))
        let share = try strikes("seed: 7, fail: f", nil).filter { $0 != nil }.count
        #expect((16...48).contains(share))
        #expect(try strikes("fail: f", 1) == strikes("fail: f", 1))
        #expect(try strikes("fail: f", 1) != strikes("fail: f", 2))
    }

    @Test("a browser's preflight is neither counted nor hit") func preflight() throws {
        var interventions = Interventions(seed: 1)
        interventions.arm([try Rules.fault("{ route: r, fail: f }")])
        let preflight = Rules.matchContext(method: .options, fields: ["Access-Control-Request-Method": "GET"])
        #expect(interventions.decide(preflight, vendor: "v", route: "r") == nil)
        #expect(interventions.decide(Rules.matchContext(method: .options), vendor: "v", route: "r") != nil)
    }

    @Test(
        "what goes wrong on the wire is read in each of its forms",
        arguments: [
            ("reset", Transmission(fault: .reset)), ("empty", Transmission(fault: .empty)),
            ("garbage", Transmission(fault: .garbage)), ("{ reset: true }", Transmission(fault: .reset)),
            ("{ delay: 2s }", Transmission(delay: .seconds(2))),
            ("{ truncate: 0 }", Transmission(fault: .truncated(bytes: 0))),
            ("{ delay: 250ms, empty: true }", Transmission(delay: .milliseconds(250), fault: .empty)),
            ("{ drip: { chunk: 10, every: 50ms } }", Transmission(fault: .drip(bytes: 10, every: .milliseconds(50)))),
        ])
    func disturbances(_ yaml: String, _ transmission: Transmission) throws {
        var dice = SplitMix64(state: 1)
        expect(try WireFault(Rules.node(yaml)).transmission(&dice), is: transmission)
    }

    @Test("a range of delays is drawn from within its bounds, the same with the same seed") func delays() throws {
        let wireFault = try WireFault(Rules.node("{ delay: { from: 100ms, to: 2s } }"))
        let draw = { (seed: UInt64) in
            var dice = SplitMix64(state: seed)
            return (0..<50).map { _ in wireFault.transmission(&dice).delay }
        }
        expect(draw(1), is: draw(1))
        #expect(draw(1) != draw(2))
        #expect(draw(1).allSatisfy { (.milliseconds(100)...(.seconds(2))).contains($0) })
    }

    @Test(
        "what makes no sense is refused with what would be right",
        arguments: [
            ("{ route: r }", "this fault has no effect"), ("{ route: r, fail: nope }", "v has no failure nope"),
            ("{ route: s, fail: f }", "v has no route s"),
            ("{ route: bok.list, fail: f }", "did you mean “book.list”?"),
            ("{ route: \"x.*\", fail: f }", "no route of v fits “x.*”"), ("{ route: [], fail: f }", "names no route"),
            ("{ fail: f, respond: { status: 200 } }", "respond cannot be combined with fail"),
            ("{ parameters: {}, fault: reset }", "there is no fail"), ("{ fail: f, call: 0 }", "whole number from 1"),
            ("{ fail: f, call: 1, every: 2 }", "every cannot be combined with call"),
            ("{ fail: f, seed: 2 }", "a seed needs a probability"),
            ("{ fail: f, probability: 2 }", "a number from 0 to 1"), ("{ fail: f, times: 0 }", "or “always”"),
            ("{ fault: explode }", "“explode” is not a fault"), ("{ fault: { delay: 3 } }", "3 is not a duration"),
            ("{ fault: { delay: 20m } }", "from 0s to 600s"),
            ("{ fault: { delay: { from: 2s, to: 1s } } }", "ends before it begins"),
            ("{ fault: { reset: true, empty: true } }", "in one way only"),
            ("{ fault: {} }", "this fault has no effect"),
            ("{ fault: { reset: false, delay: 0s } }", "this fault has no effect"),
            (
                "{ respond: { body: \"\(String(repeating: "{{#request}}", count: 700))\" } }",
                "sections nest at most 4 deep"
            ),
            ("{ respond: { body: \"{{#request}}{{=<% %>=}}\" } }", "not a supported tag"),
            (
                "{ fail: f, when: { path: { like: \"\(String(repeating: "a", count: 257))\" } } }",
                "at most 256 are searched for"
            ),
            ("{ fault: { drip: { chunk: 0, every: 1s } } }", "0 is not a whole number from 1"),
            ("{ fault: { truncate: -1 } }", "-1 is not a whole number from 0"),
            ("{ do: nothing }", "v has no action nothing"), ("{ do: remove }", "needs the member user"),
            ("{ do: { remove: { usr: ada } } }", "did you mean “user”?"),
            ("{ do: { remove: { user: ada }, other: {} } }", "one name"),
            ("{ respond: { status: 99 } }", "between 200 and 599"),
            ("{ respond: { body_file: x.json } }", "body_file is for scenarios"),
            ("{ respond: { body: \"{{nope}}\" } }", "“{{nope}}” names nothing"),
            ("{ fail: f, cal: 1 }", "did you mean “call”?"),
            ("{ fail: f, when: { header: { a: { likes: b } } } }", "did you mean “like”?"),
            ("{ fail: f, when: { body: { \"$.a[\": 1 } } }", "is not a JSONPath"),
        ])
    func refused(_ yaml: String, _ message: String) throws {
        let problem = try #require(throws: FixtureProblem.self) { try Rules.fault(yaml) }
        #expect(problem.message.contains(message), "\(problem)")
        expect(problem.line, is: 1)
    }
}

@Suite("Interventions in one line") struct InterventionTextTests {
    @Test("a text stays as it is, and an object is told by its plain members") func lines() {
        expect(InterventionText.line(nil), is: nil)
        expect(InterventionText.line("armed fault, call 1"), is: "armed fault, call 1")
        let own: JSON = ["set_claims": "nonce", "of": "id", "changes": [["member": "nonce"]], "left": 0]
        expect(InterventionText.line([own]), is: "set claims nonce, of id, left 0")
        expect(
            InterventionText.line(["armed fault, call 1", own]),
            is: "armed fault, call 1; set claims nonce, of id, left 0")
        expect(InterventionText.line([["changes": []]]), is: nil)
    }
}

@Suite("The public base in texts") struct PublicBaseTextTests {
    @Test(
        "an address of this server has the placeholder in place of its base, in each form; others have none",
        arguments: [
            ("http://localhost:8080/a", "{base}/a"), ("http://localhost:8080", "{base}"),
            ("http://localhost:8080/~one/a", "{base}/a"), ("http://one.localhost:8080/a", "{base}/a"),
            ("http://localhost:8080/~two/a", "{base}/~two/a"), ("http://localhost:80801/a", nil),
            ("http://127.0.0.1:8080/a", nil), ("https://localhost:8080/a", nil),
        ])
    func general(_ address: String, _ expected: String?) {
        expect(PublicBase().general(address, of: "one"), is: expected)
    }
}

/// Faults, scenarios and conditions from YAML for a small vendor `v`, and exchanges to try them on.
enum Rules {
    static let scope = InterventionScope(
        vendor: "v", routes: ["r", "book.list", "book.get", "q"], failures: ["f", "expired", "busy"],
        actions: [
            ActionListing(
                name: "remove", about: "removes a user",
                members: [.required("user", "the user"), .optional("note", "a note")])
        ])

    static let request = Request(method: .get, target: "/")

    static func node(_ yaml: String) throws -> FixtureNode { try FixtureNode(file: file(yaml)) }

    private static func file(_ yaml: String) -> FixtureStore.File {
        FixtureStore.File(path: "rules.yaml", bytes: Array(yaml.utf8))
    }

    static func fault(_ yaml: String) throws -> Fault { try Fault(node(yaml), scope) }

    static func scenario(_ yaml: String) throws -> Scenario { try Scenario(file(yaml), scope) }

    static func condition(_ yaml: String) throws -> ExchangeCondition {
        try ExchangeCondition(node(yaml).mapping(ExchangeCondition.members))
    }

    static func matchContext(exp: Int? = nil, method: HTTPRequest.Method = .get, fields: FieldLines = [:])
        -> MatchContext
    {
        MatchContext(
            request: Request(method: method, target: "/", fields: fields),
            claims: exp.map { ["exp": JSON($0), "sub": "ada"] }, token: exp.map { CompactToken("token-\($0)") },
            moment: Moment(unixSeconds: 1_800_000_000))
    }
}

extension Interventions {
    /// The outcomes of calls to these routes: the failure's name, the response's status, or `nil`.
    mutating func outcomes(_ routes: [String], vendor: String = "v", exp: Int? = nil) -> [String?] {
        routes.map { route in
            switch decide(Rules.matchContext(exp: exp), vendor: vendor, route: route)?.effect.replacement {
            case .failure(let name, _)?: name
            case .response(let response)?: "\(response.status.code)"
            case nil: nil
            }
        }
    }
}
