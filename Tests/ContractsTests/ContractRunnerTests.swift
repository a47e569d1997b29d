import Contracts
import Expectations
import Foundation
import HTTPTypes
import JSON
import Mutations
import Synchronization
import Testing

@Suite("Running contract cases") struct ContractRunnerTests {
    @Test("variables, captures and options reach every part of the requests behind them")
    func variables() async throws {
        let script = Script([
            .init(
                status: 200, fields: [("Token", "t1"), ("Set", "a"), ("set", "b")],
                body: Array(#"{"id":7,"n":"x\"y"}"#.utf8)),
            .init(status: 200, fields: [], body: []),
        ])
        let result = try await script.run(
            """
            GET {{base}}/a
            HTTP 200
            [Captures]
            token: header "token"
            id: jsonpath "$.id"
            text: jsonpath "$.n"
            all: header "Set" nth 1
            code: status
            part: body regex /"id":([0-9])/

            POST {{base}}/{{id}}/b?a=1
            {{all}}-Name: Bearer {{token}}
            [Query]
            q: ä {{id}}
            [Cookies]
            c: {{code}}
            d: 2
            [BasicAuth]
            ann: s{{part}}
            [Options]
            variable: extra="{{id}}{{id}}"
            variable: flag=true
            {"id":{{id}},"flag":{{flag}},"text":"<{{text}}>","extra":"{{extra}}","none":{{none}}}
            HTTP 200
            """, ["base": "http://a", "none": nil])
        expect(result.hasPassed, is: true)
        let request = try #require(script.requests.last)
        expect(request.method, is: .post)
        expect(request.url, is: "http://a/7/b?a=1&q=%C3%A4%207")
        expect(request.fields.map(\.name.rawName), is: ["b-Name", "Cookie", "Authorization", "Content-Type"])
        expect(request.fields.first?.value, is: "Bearer t1")
        expect(request.fields[.cookie], is: "c=200; d=2")
        expect(request.fields[.authorization], is: "Basic YW5uOnM3")
        expect(
            String(decoding: request.body, as: UTF8.self),
            is: #"{"id":7,"flag":true,"text":"<x\"y>","extra":"77","none":null}"#)
    }

    @Test("a form is encoded and named as one") func form() async throws {
        let script = Script("")
        _ = try await script.run("POST http://a/b\n[Form]\na: 1&2\nc: d=e\nHTTP 200")
        expect(script.requests.first.map { String(decoding: $0.body, as: UTF8.self) }, is: "a=1%262&c=d%3De")
        expect(script.requests.first?.fields[.contentType], is: "application/x-www-form-urlencoded")
    }

    @Test("a variable that has no value is named with its place") func missingVariable() async throws {
        let result = try await Script().run("GET {{base}}/a\nx: {{token}}\nHTTP 200", ["base": "http://a"])
        let failure = try #require(result.cases[0].failures.first)
        expect(failure.place, is: HurlPlace(line: 2, column: 4))
        expect(
            failure.message,
            is:
                "the variable token has no value; give it one with --variable token=… or in the file of --variables-file"
        )
    }

    static let unfit: [(String, JSON, String)] = [
        ("GET http://a/{{v}}\nHTTP 200", [1], "the variable v is a collection, which is not text"),
        ("POST http://a\n{\"a\":{{v}}}\nHTTP 200", "s", "the variable v is a string; in JSON, put it in quotes"),
        ("GET http://a\n{{v}}: x\nHTTP 200", "a b", "{{v}} is not a field name"),
    ]

    @Test("a variable that does not fit its place is refused", arguments: Self.unfit)
    func unfitVariable(_ text: String, _ value: JSON, _ message: String) async throws {
        let result = try await Script("").run(text, ["v": value])
        expect(result.cases[0].failures.map(\.message), is: [message])
    }

    @Test("the first case that fails ends the file, since those behind it may depend on it") func stops() async throws {
        let script = Script("1", "2", "3")
        let result = try await script.run(
            """
            GET http://a/1
            HTTP 200
            `1`
            GET http://a/2
            HTTP 200
            `x`
            GET http://a/3
            HTTP 200
            """)
        expect(result.cases.map(\.word), is: ["ok", "FAILED", "not reached"])
        expect(script.requests.count, is: 2)
        expect(result.hasPassed, is: false)
    }

    @Test("a request that is skipped is not sent, and fails nothing") func skipped() async throws {
        let script = Script("")
        let result = try await script.run("GET http://a/1\n[Options]\nskip: true\nHTTP 500\nGET http://a/2\nHTTP 200")
        expect(result.cases.map(\.word), is: ["skipped", "ok"])
        expect(script.requests.map(\.url), is: ["http://a/2"])
        expect(result.hasPassed, is: true)
    }

    @Test("without an answer a case fails with the reason") func noAnswer() async throws {
        let result = try await Script().run("GET http://a/1\nHTTP 200")
        expect(result.cases[0].failures.map(\.message), is: ["no answer from http://a/1: nobody is there."])
    }

    private let prepared = """
        POST {{base}}/prepare
        [Options]
        variable: user="ann"
        HTTP 200
        [Captures]
        token: body

        # uses the token
        GET {{base}}/a/{{user}}
        x: {{token}}
        HTTP 200
        """

    @Test("preparations are sent, but told of only when they fail") func preparations() async throws {
        let result = try await Script("t", "").run(prepared, ["base": "http://a"])
        expect(result.cases.map(\.isPreparation), is: [true, false])
        expect(result.lines, is: ["ok  a.hurl:9  GET /a/{{user}}  # uses the token"])
        let failed = try await Script([.init(status: 404, fields: [], body: [])]).run(prepared, ["base": "http://a"])
        expect(failed.lines.first, is: "FAILED  a.hurl:1  POST /prepare")
        expect(failed.lines, contains: "    a.hurl:4:1: status 404 instead of 200")
    }

    @Test("preparations that are left out give nothing: what they would have given comes from the variables")
    func leftOut() async throws {
        let script = Script("")
        let result = try await script.run(
            prepared, ["base": "http://a", "user": "ben", "token": "real"], leavesOutPreparations: true)
        expect(result.cases.map(\.word), is: ["left out", "ok"])
        expect(script.requests.map(\.url), is: ["http://a/a/ben"])
        expect(script.requests.first?.fields.first?.value, is: "real")
    }

    @Test("a variable that such a call would have given is named with the line that needs it and that of the call")
    func lostVariables() async throws {
        let script = Script("")
        let result = try await script.run(prepared, ["base": "http://a", "user": "ben"], leavesOutPreparations: true)
        expectEmpty(script.requests)
        expect(
            result.lines.last,
            is:
                "    a.hurl:10:4: the variable token has no value: the call in line 6 that gives it one is left out; give it "
                + "one with --variable token=… or in the file of --variables-file")
    }

    @Test("the status is judged first: with another one nothing is captured, and the content that came is shown")
    func status() async throws {
        let script = Script([.init(status: 500, fields: [], body: Array(#"{"why":"broken"}"#.utf8))])
        let result = try await script.run("GET http://a/1\nHTTP 200\n[Captures]\nx: jsonpath \"$.no\"\n{\"id\":1}")
        let failures = result.cases[0].failures
        expect(failures.map(\.message), is: ["status 500 instead of 200"])
        expect(
            failures[0].difference,
            is: ["-HTTP 200", "+HTTP 500", " {", "-  \"id\": 1", "+  \"why\": \"broken\"", " }"])
    }

    @Test("everything that differs is told at once") func allFailures() async throws {
        let script = Script([.init(status: 200, fields: [("A", "1"), ("a", "2")], body: Array("x".utf8))])
        let result = try await script.run(
            """
            GET http://a/1
            HTTP 200
            a: 2
            A: 3
            b: 1
            [Captures]
            c: header "none"
            [Asserts]
            body == "y"
            body == "x"
            `z`
            """)
        expect(
            result.cases[0].failures.map(\.message),
            is: [
                "nothing was found that could become the variable c", "field A: expected “3”, found “1”, “2”",
                "field b: expected “1”, found none", "the content differs", "body == \"y\": found “x”",
            ])
    }
}

/// A server that gives prepared answers and records its requests.
final class Script: Sendable {
    private struct State {
        var answers: [ContractAnswer]
        var requests: [ContractRequest] = []
    }

    private let state: Mutex<State>

    init(_ answers: [ContractAnswer] = []) { state = Mutex(State(answers: answers)) }

    convenience init(_ bodies: String...) {
        self.init(bodies.map { ContractAnswer(status: 200, fields: [], body: Array($0.utf8)) })
    }

    var requests: [ContractRequest] { state.withLock { $0.requests } }

    func run(
        _ file: HurlFile, _ variables: [String: JSON] = [:], leavesOutPreparations: Bool = false
    ) async -> ContractResult {
        let runner = ContractRunner(
            isPreparation: { $0.contains("/prepare") }, leavesOutPreparations: leavesOutPreparations
        ) { (request) throws(ContractSendingProblem) in try self.answer(request) }
        return await runner.run(file, variables: ContractVariables(variables))
    }

    func run(
        _ text: String, _ variables: [String: JSON] = [:], leavesOutPreparations: Bool = false
    ) async throws -> ContractResult {
        let file = try HurlFile(name: "a.hurl", bytes: Array(text.utf8))
        return await run(file, variables, leavesOutPreparations: leavesOutPreparations)
    }

    private func answer(_ request: ContractRequest) throws(ContractSendingProblem) -> ContractAnswer {
        let answer = state.withLock { state -> ContractAnswer? in
            state.requests.append(request)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        guard let answer else { throw ContractSendingProblem("nobody is there.") }
        return answer
    }
}

/// Parses mutated Hurl files.
///
/// Deterministic: the same number of inputs gives the same inputs. `UNDERSTUDY_FUZZ_INPUTS` sets the number.
@Suite("Mutated Hurl files") struct HurlFileMutationTests {
    static let inputs = ProcessInfo.processInfo.environment["UNDERSTUDY_FUZZ_INPUTS"].flatMap { Int($0) } ?? 5_000

    static let seeds = [
        "# a\nPOST {{base}}/a?b=1 # c\nx: y \\u{e9}\n[Query]\nq: {{v}}\n[Options]\nvariable: n=\"{{a}}\"\n{\"a\":[1,{{v}},\"{{w}}\\n\"]}\n",
        "GET http://a\nHTTP 200\nX: y\n[Captures]\nid: jsonpath \"$.a[0]\" split \",\" nth 1\n[Asserts]\nstatus >= 200\nbody matches /a\\/b/\n",
        "PUT http://a\n```json\n{ }\n```\nHTTP *\n`one \\` line`\n",
        "GET http://a\nbase64,YWI=;\nHTTP 204\nhex,cafe;\n",
    ].map { Array($0.utf8) }

    @Test("never crash the reader, and what is refused is refused at a place inside the file") func mutate() {
        var random = SeededGenerator(seed: 0x5EED_0010)
        var accepted = 0
        for index in 0..<Self.inputs {
            var bytes = Self.seeds[index % Self.seeds.count]
            for _ in 0..<Int.random(in: 0...3, using: &random) { Mutation.apply(to: &bytes, using: &random) }
            do throws(HurlProblem) {
                _ = try HurlFile(name: "a", bytes: bytes)
                accepted += 1
            } catch {
                let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                let isInside =
                    (1...lines.count).contains(error.place.line)
                    && (1...lines[error.place.line - 1].count + 1).contains(error.place.column)
                if !isInside { Issue.record("\(bytes) has a fault at an impossible place: \(error)") }
            }
        }
        // Otherwise a reader that rejects everything would pass.
        expect(accepted, above: Self.inputs / 10)
        expect(Self.inputs, above: accepted)
    }
}
