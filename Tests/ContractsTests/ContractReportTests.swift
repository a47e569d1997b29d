import Expectations
import JSON
import Testing

@testable import Contracts

@Suite("Reports of contract runs") struct ContractReportTests {
    private func difference(_ expected: String, _ found: String) async throws -> (String, [String]) {
        let result = try await Script(found).run("GET http://a/1\nHTTP 200\n```\n\(expected)```")
        let failure = try #require(result.cases[0].failures.first)
        return (failure.message, failure.difference)
    }

    @Test("JSON is compared member by member, with three lines around what differs") func json() async throws {
        let (message, lines) = try await difference(
            #"{"a":1,"b":2,"c":3,"d":4,"e":[1,2],"f":6}"#, #"{"a":1,"b":2,"c":3,"d":4,"e":[1,5],"f":6}"#)
        expect(message, is: "the content differs")
        expect(
            lines,
            is: [" …", "   \"d\": 4,", "   \"e\": [", "     1,", "-    2", "+    5", "   ],", "   \"f\": 6", " }"])
    }

    private static let otherSpelling = "the content is the same JSON in another spelling (blanks or escapes)"
    private static let otherForm =
        "the content is the same JSON, but the order of members or the form of a number differs"

    @Test(
        "what differs in spelling alone is told apart",
        arguments: [
            (#"{"a":1}"#, #"{"a": 1}"#, otherSpelling), (#"["é"]"#, #"["\u00e9"]"#, otherSpelling),
            (#"{"a":1,"b":2}"#, #"{"b":2,"a":1}"#, otherForm), (#"{"a":1}"#, #"{"a":1.0}"#, otherForm),
            (#"{"a":1}"#, #"{"a":"1"}"#, "the content differs"), ("a", "b", "the content differs"),
        ])
    func spellings(_ expected: String, _ found: String, _ message: String) async throws {
        let difference = try await difference(expected, found)
        expect(difference.0, is: message)
        #expect(difference.1.contains { $0.hasPrefix("-") } && difference.1.contains { $0.hasPrefix("+") })
    }

    @Test("texts are compared line by line, and long ones are cut") func texts() async throws {
        let long = String(repeating: "x", count: 1000)
        expect(
            try await difference("a", "a\n\(long)").1, is: [" a", "+" + String(long.prefix(400)) + "… (1000 bytes)"])
        expect(try await difference("a", "").1, is: ["-a"])
    }

    @Test("what differs is shown behind any number of lines that do not, and between them")
    func longTexts() async throws {
        let lines = (0..<3000).map { "line \($0)" }
        let text = lines.joined(separator: "\n")
        let changed = (lines[..<2500] + ["other"] + lines[2501...]).joined(separator: "\n")
        expect(
            try await difference(text, changed).1,
            is: [
                " …", " line 2497", " line 2498", " line 2499", "-line 2500", "+other", " line 2501", " line 2502",
                " line 2503", " …",
            ])
        expect(
            try await difference(text, text + "\nmore").1,
            is: [" …", " line 2997", " line 2998", " line 2999", "+more"])
    }

    @Test("lines end with LF, whether CR stands before it or not") func carriageReturns() async throws {
        expect(try await difference("a\r\nb\r\nc", "a\r\nx\r\nc").1, is: [" a\r", "-b\r", "+x\r", " c"])
        expect(try await difference("a\r\nb", "a\nb").1, is: ["-a\r", "+a", " b"])
    }

    @Test("a long line is cut around the place where it differs") func longLines() async throws {
        let (start, end) = (String(repeating: "x", count: 1000), String(repeating: "y", count: 1000))
        let (before, behind) = (String(repeating: "x", count: 200), String(repeating: "y", count: 199))
        expect(
            try await difference("\(start)1\(end)", "\(start)2\(end)").1,
            is: ["-…\(before)1\(behind)… (2001 bytes)", "+…\(before)2\(behind)… (2001 bytes)"])
        // If one line is shorter, both show where it ends.
        expect(
            try await difference(start, "\(start)2").1, is: ["-…\(before) (1000 bytes)", "+…\(before)2 (1001 bytes)"])
    }

    private let file = """
        # says <hello> & "goodbye"
        GET http://a/1
        HTTP 200
        `a`
        GET http://a/2
        [Options]
        skip: true
        GET http://a/3
        HTTP 200
        `a]]>`
        GET http://a/4
        """

    @Test("one line a case, what was wrong below it, and a sum at the end") func lines() async throws {
        let result = try await Script("a", "b\u{1}").run(file)
        expect(
            result.lines,
            is: [
                "ok  a.hurl:2  GET /1  # says <hello> & \"goodbye\"", "skipped  a.hurl:5  GET /2",
                "FAILED  a.hurl:8  GET /3",
                "    a.hurl:10:1: the content differs", "      -a]]>", "      +b\u{1}",
                "not reached  a.hurl:11  GET /4",
            ])
        expect(
            ContractResult.summary(of: [result]), is: "1 files: 1 of 4 cases passed, 1 failed, 1 skipped, 1 not reached"
        )
    }

    @Test("JUnit's XML holds a suite a file and a test a case, escaped, without what XML may not hold")
    func junit() async throws {
        let text = JUnitReport.text([try await Script("a", "b\u{1}").run(file)])
        let expected = """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="contract" tests="4" failures="1" errors="0" skipped="2" time="T">
              <testsuite name="a.hurl" tests="4" failures="1" errors="0" skipped="2" time="T">
                <testcase classname="a.hurl" name="line 2: GET /1 – says &lt;hello&gt; &amp; &quot;goodbye&quot;" time="T"/>
                <testcase classname="a.hurl" name="line 5: GET /2" time="T">
                  <skipped message="skipped"/>
                </testcase>
                <testcase classname="a.hurl" name="line 8: GET /3" time="T">
                  <failure message="the content differs">    a.hurl:10:1: the content differs&#10;      -a]]&gt;&#10;      +b\u{FFFD}</failure>
                </testcase>
                <testcase classname="a.hurl" name="line 11: GET /4" time="T">
                  <skipped message="not reached"/>
                </testcase>
              </testsuite>
            </testsuites>

            """
        expect(text.replacing(/time="[0-9]+\.[0-9]{3}"/, with: "time=\"T\""), is: expected)
    }

    @Test(
        "JUnit's times are seconds with three places",
        arguments: [
            (Duration.zero, "0.000"), (.microseconds(999), "0.000"), (.milliseconds(7), "0.007"),
            (.milliseconds(61_050), "61.050"), (.seconds(3600), "3600.000"),
        ])
    func seconds(_ duration: Duration, _ text: String) { expect(JUnitReport.seconds(duration), is: text) }

    @Test("for programs the same stands in JSON") func programs() async throws {
        let json = try await Script("a", "b").run(file).json
        expect(json["file"], is: "a.hurl")
        expect(json["passed"], is: false)
        expect(json["cases"]?.array?.map { $0["outcome"]?.string }, is: ["ok", "skipped", "failed", "not reached"])
        expect(
            json["cases"]?[2]?["failures"]?[0],
            is: ["line": 10, "column": 1, "message": "the content differs", "difference": ["-a]]>", "+b"]])
    }
}

@Suite("Asserts of contract cases") struct ContractAssertTests {
    private static let answer = ContractAnswer(
        status: 201, fields: [("Content-Type", "text/plain"), ("Vary", "A"), ("vary", "B"), ("Count", "12")],
        body: Array(
            #"{"s":"Hello World","n":3,"f":1.50,"big":9007199254740993,"t":true,"z":null,"e":[],"l":[1,"two",3.0],"o":{"k":"v"},"d":"2027-01-15","c":"a\r\nb\r\nc"}"#
                .utf8))

    private func failures(_ assert: String) async throws -> [String] {
        let result = try await Script([Self.answer]).run(
            "GET http://a\nHTTP *\n[Asserts]\n\(assert)\n",
            ["name": "World", "three": 3, "size": JSON(Self.answer.body.count)])
        return result.cases[0].failures.map(\.message)
    }

    static let holding = [
        "status == 201", "status != 200", "status >= 201", "status < 300", "header \"content-type\" == \"text/plain\"",
        "header \"Vary\" count == 2", "header \"Vary\" includes \"B\"", "header \"Vary\" nth 0 == \"A\"",
        "header \"none\" not exists", "header \"none\" not == \"x\"", "header \"Count\" toInt == 12",
        "header \"Count\" toFloat == 12.0", "body contains \"Hello {{name}}\"", "bytes count == {{size}}",
        "bytes startsWith hex,7B22;", "bytes endsWith base64,fQ==;", "bytes contains hex,48656c6c6f;",
        "jsonpath \"$.s\" == \"Hello World\"", "jsonpath \"$.s\" startsWith \"Hello\"",
        "jsonpath \"$.s\" endsWith \"{{name}}\"",
        "jsonpath \"$.s\" matches /^H.*d$/", "jsonpath \"$.s\" not matches \"\\\\d\"", "jsonpath \"$.s\" isString",
        "jsonpath \"$.s\" not isInteger", "jsonpath \"$.s\" split \" \" count == 2",
        "jsonpath \"$.s\" split \" \" last == \"World\"",
        "jsonpath \"$.s\" replace \"World\" \"you\" == \"Hello you\"",
        "jsonpath \"$.s\" regex /(W[a-z]+)/ == \"World\"",
        "regex /\"n\":([0-9]+)/ == \"3\"", "jsonpath \"$.s\" > \"Hell\"", "jsonpath \"$.n\" == 3",
        "jsonpath \"$.n\" == {{three}}",
        "jsonpath \"$.n\" == 3.0", "jsonpath \"$.n\" isInteger", "jsonpath \"$.n\" isNumber", "jsonpath \"$.n\" <= 3",
        "jsonpath \"$.f\" == 1.5", "jsonpath \"$.f\" isFloat", "jsonpath \"$.big\" != 9007199254740992",
        "jsonpath \"$.t\" == true", "jsonpath \"$.t\" isBoolean", "jsonpath \"$.z\" == null", "jsonpath \"$.z\" exists",
        "jsonpath \"$.none\" not exists", "jsonpath \"$.e\" isEmpty", "jsonpath \"$.e\" count == 0",
        "jsonpath \"$.l\" not isEmpty",
        "jsonpath \"$.l\" count == 3", "jsonpath \"$.l\" first == 1", "jsonpath \"$.l[*]\" includes \"two\"",
        "jsonpath \"$.l[?@ == 3]\" count == 1", "jsonpath \"$.l[?@ == 4]\" isEmpty", "jsonpath \"$.o\" isCollection",
        "jsonpath \"$.o\" count == 1", "jsonpath \"$.l\" isCollection", "variable \"name\" == \"World\"",
        "jsonpath \"$.c\" split \"\\n\" count == 3", "jsonpath \"$.c\" split \"\\n\" first == \"a\\r\"",
        "jsonpath \"$.c\" replace \"\\r\" \"\" == \"a\\nb\\nc\"",
        "jsonpath \"$.c\" replace \"\\n\" \"-\" contains \"\\r-\"",
        "variable \"none\" not exists", "body jsonpath \"$.n\" == 3", "status == 201 # why",
    ]

    @Test("hold", arguments: Self.holding)
    func hold(_ assert: String) async throws { expect(try await failures(assert), is: []) }

    static let failing: [String: String] = [
        "status == 200": "status == 200: found 201",
        "status not == 201": "status not == 201: found 201, for which it does hold",
        "header \"none\" exists": "header \"none\" exists: found nothing",
        "header \"none\" count == 0": "nothing was found for the filter count to work on",
        "jsonpath \"$.s\" == \"hello\"": "jsonpath \"$.s\" == \"hello\": found “Hello World”",
        "jsonpath \"$.n\" == \"3\"": "jsonpath \"$.n\" == \"3\": found 3",
        "jsonpath \"$.n\" contains \"3\"":
            "jsonpath \"$.n\" contains \"3\": found a JSON number, 3, to which this predicate does not apply",
        "jsonpath \"$.n\" not contains \"4\"":
            "jsonpath \"$.n\" not contains \"4\": found a JSON number, 3, to which this predicate does not apply",
        "jsonpath \"$.s\" > 3":
            "jsonpath \"$.s\" > 3: found a JSON string, “Hello World”, to which this predicate does not apply",
        "jsonpath \"$.t\" isEmpty":
            "jsonpath \"$.t\" isEmpty: found a JSON boolean, true, to which this predicate does not apply",
        "jsonpath \"$.f\" isInteger": "jsonpath \"$.f\" isInteger: found 1.50",
        "jsonpath \"$.none\" == 1": "jsonpath \"$.none\" == 1: found nothing",
        "jsonpath \"$.l\" nth 3 exists": "jsonpath \"$.l\" nth 3 exists: found nothing",
        "jsonpath \"$.s\" count == 1": "the filter count cannot work on a JSON string, “Hello World”",
        "jsonpath \"$.s\" toInt == 1": "the filter toInt cannot work on a JSON string, “Hello World”",
        "jsonpath \"$.s\" jsonpath \"$\" exists": "the content is not JSON: line 1, column 1: unexpected “H”",
        "jsonpath \"$.{{name}}.\" exists":
            "“$.World.”, character 9: found the end; expected “*” or a name of letters, digits and “_”; write other names as ['name']",
        "body regex /Hello/ exists": "the regular expression has no group whose text could be taken",
        "body matches \"{{name}}(\"": "“World(” is not a supported regular expression",
        "bytes == hex,00;": "bytes == hex,00;: found \(answer.body.count) bytes",
    ]

    @Test("fail, and say what was found", arguments: Self.failing)
    func fail(_ assert: String, _ message: String) async throws { expect(try await failures(assert), is: [message]) }
}
