import Contracts
import Expectations
import JSON
import Testing

@Suite("Reading Hurl files") struct HurlFileTests {
    private func read(_ text: String) throws -> [HurlEntry] {
        try HurlFile(name: "a.hurl", bytes: Array(text.utf8)).entries
    }

    @Test("a file may be empty, or hold comments alone", arguments: ["", "\n\n", "# nothing\n", "  # nothing"])
    func empty(_ text: String) throws { expect(try read(text), is: []) }

    @Test("an entry has a request, its parts in any order that the grammar allows, and a response")
    func wholeEntry() throws {
        let entries = try read(
            """
            # not about it

            # about
            # it
            POST {{base}}/a?x=1 # why
            Content-Type: text/plain   # trimmed
            {{name}}: a \\# b
            [Form]
            k[0]: v w
            [Query]
            q: {{value}}
            # between sections
            [Cookies]
            c: d
            [BasicAuth]
            ann: secret
            [Options]
            variable: n=1
            variable: t="{{a}}/b"
            variable: w=word-1
            skip: false
            `one \\` line`

            HTTP/1.1 201
            X-A: b
            [Captures]
            id: jsonpath "$.id"
            [Asserts]
            status > 200
            body contains "x" # comment
            ```
            two
            `lines` {{v}}
            ```
            GET http://host:1/b
            """)
        expect(entries.count, is: 2)
        let entry = try #require(entries.first)
        expect(entry.remark, is: "about it")
        let request = entry.request
        expect(request.method, is: .post)
        expect(request.place, is: HurlPlace(line: 5, column: 1))
        expect(request.url.source, is: "{{base}}/a?x=1")
        expect(request.fields.map(\.name.source), is: ["Content-Type", "{{name}}"])
        expect(request.fields.map(\.value.source), is: ["text/plain", "a # b"])
        expect(request.form.map(\.name.source), is: ["k[0]"])
        expect(request.form.map(\.value.source), is: ["v w"])
        expect(request.query.map(\.value.source), is: ["{{value}}"])
        expect(request.cookies.map(\.name.source), is: ["c"])
        expect(request.credentials?.value.source, is: "secret")
        expect(request.options.count, is: 4)
        expect(request.options.first, is: .variable(name: "n", value: .constant(1), HurlPlace(line: 18, column: 11)))
        expect(request.options.last, is: .skip(false))
        expect(request.body.map(text), is: "one ` line")
        let response = try #require(entry.response)
        expect(response.status, is: 201)
        expect(response.fields.map(\.value.source), is: ["b"])
        expect(response.captures.map(\.name.source), is: ["id"])
        expect(response.asserts.map(\.source), is: ["status > 200", "body contains \"x\""])
        expect(response.body.map(text), is: "two\n`lines` {{v}}\n")
        expect(entries[1].request.url.source, is: "http://host:1/b")
        expect(entries[1].response, is: nil)
        expect(entries[1].remark, is: "")
    }

    private func text(_ body: HurlBody) -> String {
        if case .text(let template, _) = body.content { template.source } else { "\(body.content)" }
    }

    @Test("a response may take any status", arguments: ["HTTP *", "HTTP/1.1 *"]) func anyStatus(_ line: String) throws {
        let response = try #require(try read("GET http://a\n\(line)")[0].response)
        expect(response.status, is: nil)
    }

    static let bodies: [(String, [UInt8], String?)] = [
        ("{\"a\": [1, {}]}", Array("{\"a\": [1, {}]}".utf8), "application/json"),
        ("{\n  \"a\" : \"}\\\"\"\n}", Array("{\n  \"a\" : \"}\\\"\"\n}".utf8), "application/json"),
        ("[]", Array("[]".utf8), "application/json"), ("[1,2]", Array("[1,2]".utf8), "application/json"),
        ("[true]", Array("[true]".utf8), "application/json"), ("-1.5e3", Array("-1.5e3".utf8), "application/json"),
        ("true", Array("true".utf8), "application/json"), ("null", Array("null".utf8), "application/json"),
        ("\"a b\"", Array("\"a b\"".utf8), "application/json"), ("``", [], nil), ("`a\\tb`", Array("a\tb".utf8), nil),
        ("`\\u{e9}`", Array("é".utf8), nil), ("``````", [], nil), ("```\n```", [], nil),
        ("```text```", Array("text".utf8), nil), ("```\nline1\nline2\n```", Array("line1\nline2\n".utf8), nil),
        ("```json\n{ }\n```", Array("{ }\n".utf8), "application/json"),
        ("```xml\n<a/>\n```", Array("<a/>\n".utf8), "application/xml"), ("hex,CAFE;", [0xCA, 0xFE], nil),
        ("hex, cafe ;", [0xCA, 0xFE], nil), ("base64,YWI=;", Array("ab".utf8), nil),
        ("base64,YW\nI;", Array("ab".utf8), nil), ("```\na\\nb\n```", Array("a\\nb\n".utf8), nil),
    ]

    @Test("a content is taken byte for byte, in every form", arguments: Self.bodies)
    func contents(_ text: String, _ bytes: [UInt8], _ type: String?) async throws {
        let file = try HurlFile(name: "a.hurl", bytes: Array("PUT http://a/b\n\(text)\nHTTP 200\n\(text)".utf8))
        let script = Script([.init(status: 200, fields: [], body: bytes)])
        expect(await script.run(file).hasPassed, is: true)
        expect(script.requests.first?.body, is: bytes)
        expect(script.requests.first?.fields[.contentType], is: type)
    }

    @Test("lines may end with CR and LF") func carriageReturns() throws {
        let entries = try read("GET http://a\r\nx: y\r\n[Query]\r\na: b\r\nHTTP 200\r\n[Asserts]\r\nstatus == 200\r\n")
        expect(entries[0].request.fields[0].value.source, is: "y")
        expect(entries[0].response?.asserts.count, is: 1)
    }

    static let refused: [String: String] = [
        "get http://a": "1:1: found “get”; expected a request, such as GET {{base}}/path",
        "GET": "1:1: found “GET”; expected a request",
        "GET \nx": "1:5: found the end of the line; expected a URL",
        "GET ftp://a": "1:5: found “ftp://a”; a URL begins with http://, https:// or a variable, such as {{base}}",
        "GET /a": "1:5: found “/a”; a URL begins with http://",
        "GET http://a|b": "1:13: found “|b”; a URL contains letters, digits and :/.-?=&_%*,@~+!$'();[]",
        "GET http://a/{b}": "1:14: found “{b}”; a URL contains letters",
        "GET http://a\nx: a\tb": "2:5: found a tab inside a value; it is written \\t there",
        "POST http://a\nhex,ca fe;": "2:1: found bytes that are no pairs of hexadecimal digits",
        "GET http://a\n[Options]\nvariable: a=317-abc": "3:13: found “317-abc”; put a text that begins with a number",
        "GET http://a\n[Options]\nvariable: a=-1{{b}}": "3:13: found “-1{{b}}”; put a text that begins with a number",
        "GET http://a\n[Options]\nvariable: a=nullable": "3:13: found “nullable”; put a text that begins with a number",
        "GET http://a b": "1:14: found “b”; expected the end of the line",
        "GET http://a\nHost: b": "2:1: found the field Host; it follows from URL and content, leave it out",
        "GET http://a\n[Multipart]\na: b": "2:1: found [Multipart]; a request may have [Query], [Form]",
        "GET http://a\n[Form]\n[Form]": "3:1: a second [Form]; a section may occur once in a request",
        "GET http://a\n[BasicAuth]\na: b\nc: d": "2:1: found 2 lines in [BasicAuth]; expected one",
        "GET http://a\n[Options]\ninsecure: true": "3:1: found “insecure:”; expected a supported option",
        "GET http://a\n[Options]\nskip: maybe": "3:7: found “maybe”; expected true or false",
        "GET http://a\n[Options]\nvariable: a": "3:12: found the end of the file; expected “=”",
        "GET http://a\n[Options]\nvariable: 1=2": "3:11: found “1=2”; expected the name of a variable",
        "GET http://a\nHTTP/2 200": "2:1: found “HTTP/2”; expected HTTP or HTTP/1.1",
        "GET http://a\nHTTP ok": "2:6: found “ok”; expected a status of three digits, or *",
        "GET http://a\nHTTP": "2:5: found the end of the file; expected a space and a status, or *",
        "GET http://a\nHTTP 200 OK": "2:10: found “OK”; expected the end of the line",
        "GET http://a\nHTTP 200\n[Query]\na: b": "3:1: found [Query]; a response may have [Captures] and [Asserts]",
        "GET http://{{a": "1:15: found the end of the file; expected “}}” after the name of a variable",
        "GET http://{{a b}}": "1:16: found “b}}”; expected “}}”",
        "GET http://{{1}}": "1:14: found “1}}”; expected the name of a variable",
        "GET http://a/{{newUuid}}":
            "1:16: found the function newUuid; expected the name of a variable between the braces",
        "POST http://a\n{\"a\":}": "2:6: found JSON in which unexpected “}”",
        "POST http://a\n{\"a\":1": "2:6: found JSON in which the text ends inside a value",
        "POST http://a\n{\"a\":\"b\nc\"}": "2:6: the string that begins here has no end on its line",
        "POST http://a\n[1,{{a}},]": "2:10: found JSON in which unexpected “]”",
        "POST http://a\n01": "2:1: found JSON in which malformed number",
        "POST http://a\n```graphql\n{}\n```":
            "2:4: found “graphql”; expected json, xml or nothing after the backquotes",
        "POST http://a\n```\nx": "2:1: the text that begins here has no ``` at its end",
        "POST http://a\n`x": "2:1: the text that begins here has no ` at its end",
        "POST http://a\n`\\x`": "2:2: found a backslash before no sign that is escaped here",
        "POST http://a\n`\\u{D800}`": "2:2: found a \\u that names no character",
        "POST http://a\nfile,a.bin;": "2:1: found “file,a.bin;”; files as content are not supported",
        "POST http://a\n<a/>": "2:1: found “<a/>”; put XML in a multiline string",
        "POST http://a\nhex,abc;": "2:1: found bytes that are no pairs of hexadecimal digits",
        "POST http://a\nbase64,*;": "2:1: found bytes that are no base64",
        "POST http://a\nhex,ab": "2:1: the bytes that begin here have no “;” at their end",
        "GET http://a\nHTTP 200\n[Captures]\na: xpath \"//a\"": "4:4: found “xpath”; expected status, header, body",
        "GET http://a\nHTTP 200\n[Captures]\na: status redact": "4:11: found “redact”; expected the end of the line",
        "GET http://a\nHTTP 200\n[Asserts]\nduration < 100": "4:1: found “duration”; expected status, header, body",
        "GET http://a\nHTTP 200\n[Asserts]\nstatus equals 200": "4:8: found “equals”; expected a filter (count,",
        "GET http://a\nHTTP 200\n[Asserts]\nstatus":
            "4:7: found the end of the file; expected a space and a predicate, such as == 1",
        "GET http://a\nHTTP 200\n[Asserts]\nstatus == yes": "4:11: found “yes”; expected a string in quotes",
        "GET http://a\nHTTP 200\n[Asserts]\nheader == 1": "4:8: found “==”; expected a string in quotes",
        "GET http://a\nHTTP 200\n[Asserts]\njsonpath \"$.\" exists": "4:10: “$.”, character 3: found the end",
        "GET http://a\nHTTP 200\n[Asserts]\nbody matches /(/":
            "4:14: found /(/, which is not a supported regular expression",
        "GET http://a\nHTTP 200\n[Asserts]\nbody matches /a": "4:14: the pattern that begins here has no end",
        "GET http://a\nHTTP 200\n[Asserts]\nbody nth x == 1": "4:10: found “x”; expected an index from 0",
        "GET http://a\nHTTP 200\n[Asserts]\nbody == \"a": "4:9: the string that begins here has no end on its line",
    ]

    @Test("what lies outside the subset is refused by line and column, with what was found", arguments: Self.refused)
    func refuses(_ text: String, _ complaint: String) {
        let problem = expect(throws: HurlProblem.self) { try HurlFile(name: "a.hurl", bytes: Array(text.utf8)) }
        let (found, line) = (problem?.description ?? "", "a.hurl:" + complaint)
        expect(String(found.prefix(line.count)), is: line, found)
    }

    @Test("a URL may hold all signs that Hurl knows there, and a value end with tabs") func signs() throws {
        let request = try read("GET https://a:1/.-?=&_%*,@~+!$'();[]é{{b}}# c\nx: y\t \n[Options]\nvariable: v=a317")[0]
            .request
        expect(request.url.source, is: "https://a:1/.-?=&_%*,@~+!$'();[]é{{b}}")
        expect(request.fields.map(\.value.source), is: ["y"])
        expect(request.options.count, is: 1)
    }

    @Test("very many lines and placeholders are read in time that grows with them", .timeLimit(.minutes(15)))
    func manyParts() throws {
        let elements = (0..<50_000).map { "{{v\($0)}}" }.joined(separator: ",\n")
        let entries = try read("POST http://a\n[\(elements)]\n" + String(repeating: "GET http://a\n", count: 50_000))
        expect(entries.count, is: 50_001)
        expect(entries.last?.request.place, is: HurlPlace(line: 100_001, column: 1))
    }

    @Test("a file that is not UTF-8 is refused") func notUTF8() {
        let problem = expect(throws: HurlProblem.self) { try HurlFile(name: "a.hurl", bytes: [0xFF]) }
        expect(problem?.description, is: "a.hurl:1:1: the file is not UTF-8; save it as such")
    }

    @Test(
        "a variable's name begins with a letter, and is none of Hurl's functions",
        arguments: [
            ("token", true), ("t", true), ("T0-k_en", true), ("", false), ("0token", false), ("-t", false),
            ("_t", false), ("to ken", false), ("tök", false), ("newUuid", false), ("newUuids", true),
        ])
    func variableNames(_ text: String, _ isName: Bool) { expect(HurlVariable.isName(text), is: isName) }
}
