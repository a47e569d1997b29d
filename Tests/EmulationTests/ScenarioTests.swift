import Expectations
import HTTPTypes
import JSON
import Testing
import Tokens
import Wire

@testable import Emulation

@Suite("Scenarios") struct ScenarioTests {
    private static func yaml(_ states: String, name: String = "s") -> String {
        "scenario: \(name)\nabout: a test\nvendor: v\nstates:\n\(states)"
    }

    private func run(_ states: String...) throws -> Interventions {
        var interventions = Interventions(seed: 1)
        interventions.activate(try states.enumerated().map { (try Rules.scenario(Self.yaml($1, name: "s\($0)")), 0) })
        return interventions
    }

    private static let expiry = """
          fresh:
            - { on: book.list, call: 3, fail: expired, go: expired }
          expired:
            - { on: book.list, when: { token: newer }, go: fresh }
            - { on: book.list, fail: expired }
        """

    @Test("a token is refused at the third call until a newer one comes, and then again at the third")
    func expiry() throws {
        var interventions = try run(Self.expiry)
        let list = { (count: Int) in Array(repeating: "book.list", count: count) }
        expect(interventions.outcomes(list(5), exp: 100), is: [nil, nil, "expired", "expired", "expired"])
        expect(interventions.outcomes(["book.get"], exp: 200), is: [nil])
        expect(interventions.runs[0].stateName, is: "expired")
        expect(interventions.outcomes(list(2), exp: 100), is: ["expired", "expired"])
        expect(interventions.outcomes(list(3), exp: 101), is: [nil, nil, nil])
        expect(interventions.runs[0].stateName, is: "fresh")
        expect(interventions.outcomes(list(1), exp: 101), is: ["expired"])
        expect(interventions.outcomes(list(1), exp: 100), is: ["expired"], "what was refused once stays refused")
        expect(interventions.outcomes(list(1), exp: 99), is: [nil], "an earlier exp says nothing about its issue")
    }

    @Test("a token that was sent or minted before the refusal is not newer; the intervention says what it waits for")
    func older() throws {
        var interventions = try run(Self.expiry)
        interventions.note(Array("token-300".utf8))
        for exp in [200, 100, 100] { _ = interventions.outcomes(["book.list"], exp: exp) }
        let summaries = [100, 200, 300].map {
            interventions.decide(Rules.matchContext(exp: $0), vendor: "v", route: "book.list")?.summary
        }
        let waiting =
            "scenario s0 in expired: fail expired; waits for a call of book.list with a newer token; this token "
        let before = "is from before the refusal"
        expect(summaries, is: ["has already been refused", before, before].map { waiting + $0 })
        interventions.note(Array("token-50".utf8))
        let passed = interventions.decide(Rules.matchContext(exp: 50), vendor: "v", route: "book.list")
        expect(passed?.summary, is: "scenario s0 in expired, to fresh; waits for call 3 of book.list")
    }

    @Test("an answer that a rule gives with a status from 400 is a refusal, too") func respondedRefusal() throws {
        var interventions = try run(
            "  a: [{ on: r, respond: { status: 401 }, go: b }]\n"
                + "  b: [{ on: r, when: { token: newer }, respond: { status: 200 } }, { on: r, respond: { status: 401 } }]"
        )
        expect(interventions.outcomes(["r", "r"], exp: 1), is: ["401", "401"])
        expect(interventions.outcomes(["r"], exp: 2), is: ["200"])
    }

    @Test("of many tokens the latest thousand are known") func memory() {
        var tokens = TokenDigests()
        let all = (0...1000).map { Array("token-\($0)".utf8) }
        for token in all { tokens.insert(token) }
        expect(all.map { tokens.contains($0) }, is: [false] + Array(repeating: true, count: 1000))
    }

    @Test("a refused token is signed again with the latest earlier exp that is free, unless that is none or the first")
    func renewed() throws {
        let first = try JSON.parse(Array("\(Int.min)".utf8))
        func signed(_ expiry: JSON?, refusing refused: [JSON]) -> String {
            var tokens = TokenDigests()
            for text in refused { tokens.insert(Array(text.text.utf8)) }
            var draft = TokenDraft(header: [:], claims: expiry.map { ["exp": $0] } ?? [:])
            return tokens.sign(&draft) { ($0.claims["exp"] ?? .null).text }
        }
        expect(signed(5, refusing: []), is: "5")
        expect(signed(5, refusing: [5, 4, 2]), is: "3")
        expect(signed(nil, refusing: [.null]), is: "null")
        expect(signed(5.5, refusing: [5.5]), is: "5.5")
        expect(signed(first, refusing: [first]), is: "\(Int.min)")
    }

    @Test("the first rule that fits decides, and each counts every call that it fits") func firstFit() throws {
        var interventions = try run("  a: [{ on: r, call: 2, fail: f }, { on: [r, q], every: 2, fail: busy }]")
        expect(interventions.outcomes(["r", "r", "q", "q", "r", "r"]), is: [nil, "f", "busy", "busy", nil, "busy"])
    }

    @Test("of two active scenarios the first decides; one that only moves on leaves the answer to the next")
    func precedence() throws {
        let second = "  a: [{ on: r, respond: { status: 418 } }]"
        var interventions = try run("  a: [{ on: r, call: 2, fail: f }]", second)
        expect(interventions.outcomes(["r", "r", "r"]), is: ["418", "f", "418"])
        interventions = try run("  a: [{ on: r, go: b }]\n  b: [{ on: r, fail: f }]", second)
        expect(interventions.outcomes(["r", "r"]), is: ["418", "f"])
    }

    @Test("a fault goes before the scenarios, which count the call all the same") func faultFirst() throws {
        var interventions = try run("  a: [{ on: r, call: 2, fail: f }]")
        interventions.arm([try Rules.fault("{ route: r, fail: busy }")])
        expect(interventions.outcomes(["r", "r", "r"]), is: ["busy", "f", nil])
    }

    @Test("a hit that a fault took comes at the next call, so that no scenario is stuck") func owed() throws {
        var interventions = try run(Self.expiry)
        interventions.arm([try Rules.fault("{ route: book.list, call: 3, fail: busy }")])
        let outcomes = interventions.outcomes(Array(repeating: "book.list", count: 5), exp: 100)
        expect(outcomes, is: [nil, nil, "busy", "expired", "expired"])
    }

    @Test("rules that change places count anew") func swapped() throws {
        var interventions = try run("  a: [{ on: r, call: 3, fail: f }, { on: q, call: 3, fail: busy }]")
        _ = interventions.outcomes(["r", "r"])
        let edited = "  a: [{ on: q, call: 3, fail: busy }, { on: r, call: 3, fail: f }]"
        let swapped = try Rules.scenario(Self.yaml(edited, name: "s0"))
        expect(interventions.replace { _ in swapped }, is: [])
        expect(interventions.outcomes(["q", "r"]), is: [nil, nil])
    }

    @Test("conditions of the token: there, absent, newer than the one that was refused") func tokens() throws {
        var interventions = try run(
            "  a: [{ on: r, when: { token: absent }, fail: busy }, { on: r, when: { token: present }, fail: f }]")
        expect(interventions.outcomes(["r"]), is: ["busy"])
        expect(interventions.outcomes(["r"], exp: 5), is: ["f"])
        interventions = try run("  a: [{ on: r, when: { token: newer }, fail: f }]")
        expect(interventions.outcomes(["r"], exp: 5), is: [nil], "nothing was refused yet")
    }

    @Test("another version of a scenario keeps the state and, where the rules are the same, the counts")
    func transfer() throws {
        var interventions = try run("  a: [{ on: r, call: 3, fail: f }]")
        _ = interventions.outcomes(["r"])
        let edited = try Rules.scenario(Self.yaml("  z: []\n  a: [{ on: [r, q], call: 3, fail: busy }]", name: "s0"))
        expect(interventions.replace { _ in edited }, is: [])
        expect(interventions.outcomes(["q", "r"]), is: [nil, "busy"])
        let gone = try Rules.scenario(Self.yaml("  z: []", name: "s0"))
        expect(interventions.replace { _ in gone }, is: ["s0"])
        #expect(interventions.isEmpty)
    }

    @Test(
        "a wrong scenario is refused with its line and what would be right",
        arguments: [
            ("  a: [{ on: bok.list, fail: f }]", 5, "v has no route bok.list; did you mean “book.list”?"),
            ("  a: [{ on: r, fail: expird }]", 5, "v has no failure expird; did you mean “expired”?"),
            ("  fresh: [{ on: r, fail: f, go: frsh }]", 5, "there is no state “frsh”; did you mean “fresh”?"),
            ("  a:\n    - { on: r }\n    - { on: r, do: remov }", 7, "v has no action remov; did you mean “remove”?"),
            ("  a: [{ fail: f }]", 5, "member “on” is missing"),
            ("  a: [{ on: r, fails: f }]", 5, "did you mean “fail”?"),
            ("  a: [{ on: r, call: 2 }]", 5, "has nothing to count"),
            ("  a: [{ on: r, when: { token: new }, fail: f }]", 5, "not one of present, absent, newer"),
            ("  {}", 5, "a scenario needs a state"),
        ])
    func refused(_ states: String, _ line: Int, _ message: String) throws {
        let problem = try #require(throws: FixtureProblem.self) { try Rules.scenario(Self.yaml(states)) }
        #expect(problem.message.contains(message), "\(problem)")
        expect(problem.line, is: line)
    }

    @Test("a scenario of another vendor's folder is refused") func foreign() throws {
        let problem = try #require(throws: FixtureProblem.self) {
            try Rules.scenario("scenario: s\nabout: a\nvendor: w\nstates: { a: [] }")
        }
        expect(problem.message, is: "the vendor is “w”, but the file is in the folder of v")
        expect(problem.line, is: 3)
    }
}

@Suite("Responses of rules") struct ResponseTemplateTests {
    private static let matchContext = MatchContext(
        request: Request(
            method: .post, target: "/users/7?tag=a%22b",
            fields: ["X-Name": "Ada \"L\"", "Content-Type": "application/json"],
            body: Array(#"{"n":1.50,"list":[1,2],"text":"a\nb\"c","deep":{"x":true}}"#.utf8)),
        parameters: PathParameters(names: ["id"], values: ["7"]), claims: ["sub": "ada"],
        moment: Moment(unixSeconds: 1_800_000_000))

    private func response(_ yaml: String) throws -> Response {
        try ResponseTemplate(Rules.node(yaml), Rules.scope).response(TemplateValues(Self.matchContext))
    }

    @Test(
        "values of the exchange stand where tags name them",
        arguments: [
            ("body: { id: \"{{request.parameters.id}}\" }", #"{"id":"7"}"#),
            ("body: { n: \"{{request.body.n}}\", l: \"{{request.body.list}}\" }", #"{"n":1.50,"l":[1,2]}"#),
            ("body: { t: \"<{{request.body.text}}>\" }", #"{"t":"<a\nb\"c>"}"#),
            (#"body: "{{claims.sub}} at {{clock.unix}}""#, "ada at 1800000000"),
            (#"body: { none: "{{claims.nix}}" }"#, #"{"none":null}"#),
            ("body: { first: \"{{request.body.list.0}}\" }", #"{"first":1}"#),
            (
                "{ headers: { content-type: application/json }, body: '{\"q\":\"{{request.query.tag}}\",\"d\":\"{{request.headers.x-name}}\"}' }",
                #"{"q":"a\"b","d":"Ada \"L\""}"#
            ),
            ("body: \"{{request.method}} {{request.path}} {{clock.now}}\"", "POST /users/7 2027-01-15T08:00:00.000Z"),
            ("body: \"{{#request.body.list}}<{{.}}>{{/request.body.list}}\"", "<1><2>"),
            ("body: \"{{#request.body.deep.x}}yes{{/request.body.deep.x}}{{^claims.nix}}no{{/claims.nix}}\"", "yesno"),
            ("body: \"{{request.query.tag}} & <b>\"", "a\"b & <b>"), ("status: 204", ""),
        ])
    func bodies(_ yaml: String, _ body: String) throws {
        expect(String(decoding: try response(yaml).body, as: UTF8.self), is: body)
    }

    @Test(
        "a name that no exchange has is refused where it is given",
        arguments: [
            ("{{request.header.x}}", "; did you mean “request.headers”?"),
            ("{{clock.iso}}", "; did you mean “clock.now”?"),
            ("{{requests.path}}", "; did you mean “request.path”?"),
            ("{{#request.bod}}x{{/request.bod}}", "; did you mean “request.body”?"),
            ("{{clock.now.year}}", nil), ("{{request}}", nil), ("{{claims.anything.else}}", nil),
        ])
    func unknownNames(_ tag: String, _ hint: String?) throws {
        guard let hint else { return _ = try response("body: \"\(tag)\"") }
        let problem = #expect(throws: FixtureProblem.self) { try response("body: \"\(tag)\"") }
        #expect(problem?.message.hasSuffix("names nothing that exists\(hint)") == true, "\(problem?.message ?? "")")
    }

    @Test("lists inside lists end before they fill the machine") func explosion() throws {
        let list = JSON.array(Array(repeating: 1, count: 300))
        let request = Request(method: .post, target: "/", body: JSON.object(["l": list]).bytes)
        let matchContext = MatchContext(request: request, claims: nil, moment: Moment(unixSeconds: 0))
        let open = String(repeating: "{{#request.body.l}}", count: 4)
        let close = String(repeating: "{{/request.body.l}}", count: 4)
        let template = try ResponseTemplate(Rules.node("body: \"\(open)x{{request.body}}\(close)\""), Rules.scope)
        #expect(throws: TemplateExcess.self) { try template.response(TemplateValues(matchContext)) }
    }

    @Test("status, fields and type are as told; a value cannot begin another field") func heads() throws {
        let answer = try response(
            "{ status: 429, headers: { retry-after: \"7\", x-echo: \"{{request.body.text}}\" }, body: {} }")
        expect(answer.status, is: .tooManyRequests)
        expect(answer.fields[.retryAfter], is: "7")
        expect(answer.fields[.contentType], is: "application/json; charset=utf-8")
        expect(answer.fields.last?.value, is: "a b\"c")
        expect(try response("body: x").fields[.contentType], is: "text/plain; charset=utf-8")
    }
}
