import JSON
import Testing

@testable import Contracts

@Suite("Reports of contract runs")
struct ContractReportTests {
    private func difference(_ expected: String, _ found: String) async throws -> (String, [String]) {
        let result = try await Script(found).run("GET http://a/1\nHTTP 200\n```\n\(expected)```")
        let failure = try #require(result.cases[0].failures.first)
        return (failure.message, failure.difference)
    }

    @Test("JSON is compared member by member, with three lines around what differs")
    func json() async throws {
        let (message, lines) = try await difference(
            #"{"a":1,"b":2,"c":3,"d":4,"e":[1,2],"f":6}"#, #"{"a":1,"b":2,"c":3,"d":4,"e":[1,5],"f":6}"#)
        #expect(message == "the content differs")
        #expect(
            lines == [" …", "   \"d\": 4,", "   \"e\": [", "     1,", "-    2", "+    5", "   ],", "   \"f\": 6", " }"])
    }

    @Test(
        "what differs in spelling alone is told apart",
        arguments: [
            (#"{"a":1}"#, #"{"a": 1}"#, "the content is the same JSON in another spelling (blanks or escapes)"),
            (#"["é"]"#, #"["\u00e9"]"#, "the content is the same JSON in another spelling (blanks or escapes)"),
            (
                #"{"a":1,"b":2}"#, #"{"b":2,"a":1}"#,
                "the content is the same JSON, but the order of members or the form of a number differs"
            ),
            (
                #"{"a":1}"#, #"{"a":1.0}"#,
                "the content is the same JSON, but the order of members or the form of a number differs"
            ),
            (#"{"a":1}"#, #"{"a":"1"}"#, "the content differs"), ("a", "b", "the content differs"),
        ])
    func spellings(_ expected: String, _ found: String, _ message: String) async throws {
        let difference = try await difference(expected, found)
        #expect(difference.0 == message)
        #expect(difference.1.contains { $0.hasPrefix("-") } && difference.1.contains { $0.hasPrefix("+") })
    }

    @Test("texts are compared line by line, and long ones are cut")
    func texts() async throws {
        let long = String(repeating: "x", count: 1000)
        #expect(try await difference("a", "a\n\(long)").1 == [" a", "+" + String(long.prefix(400)) + "… (1000 bytes)"])
        #expect(try await difference("a", "").1 == ["-a"])
    }

    @Test("what differs is shown behind any number of lines that do not, and between them")
    func longTexts() async throws {
        let lines = (0..<3000).map { "line \($0)" }
        let text = lines.joined(separator: "\n")
        let changed = (lines[..<2500] + ["other"] + lines[2501...]).joined(separator: "\n")
        #expect(
            try await difference(text, changed).1 == [
                " …", " line 2497", " line 2498", " line 2499", "-line 2500", "+other", " line 2501", " line 2502",
                " line 2503", " …",
            ])
        #expect(
            try await difference(text, text + "\nmore").1 == [" …", " line 2997", " line 2998", " line 2999", "+more"])
    }

    @Test("lines end with LF, whether CR stands before it or not")
    func carriageReturns() async throws {
        #expect(try await difference("a\r\nb\r\nc", "a\r\nx\r\nc").1 == [" a\r", "-b\r", "+x\r", " c"])
        #expect(try await difference("a\r\nb", "a\nb").1 == ["-a\r", "+a", " b"])
    }

    @Test("a long line is cut around the place where it differs")
    func longLines() async throws {
        let (start, end) = (String(repeating: "x", count: 1000), String(repeating: "y", count: 1000))
        let (before, behind) = (String(repeating: "x", count: 200), String(repeating: "y", count: 199))
        #expect(
            try await difference("\(start)1\(end)", "\(start)2\(end)").1 == [
                "-…\(before)1\(behind)… (2001 bytes)", "+…\(before)2\(behind)… (2001 bytes)",
            ])
        // If one line is shorter, both show where it ends.
        #expect(
            try await difference(start, "\(start)2").1 == ["-…\(before) (1000 bytes)", "+…\(before)2 (1001 bytes)"])
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

    @Test("one line a case, what was wrong below it, and a sum at the end")
    func lines() async throws {
        let result = try await Script("a", "b\u{1}").run(file)
        #expect(
            result.lines == [
                "ok  a.hurl:2  GET /1  # says <hello> & \"goodbye\"", "skipped  a.hurl:5  GET /2",
                "FAILED  a.hurl:8  GET /3",
                "    a.hurl:10:1: the content differs", "      -a]]>", "      +b\u{1}",
                "not reached  a.hurl:11  GET /4",
            ])
        #expect(
            ContractResult.summary(of: [result]) == "1 files: 1 of 4 cases passed, 1 failed, 1 skipped, 1 not reached")
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
        #expect(text.replacing(/time="[0-9]+\.[0-9]{3}"/, with: "time=\"T\"") == expected)
    }

    @Test(
        "JUnit's times are seconds with three places",
        arguments: [
            (Duration.zero, "0.000"), (.microseconds(999), "0.000"), (.milliseconds(7), "0.007"),
            (.milliseconds(61_050), "61.050"), (.seconds(3600), "3600.000"),
        ])
    func seconds(_ duration: Duration, _ text: String) {
        #expect(JUnitReport.seconds(duration) == text)
    }

    @Test("for programs the same stands in JSON")
    func programs() async throws {
        let json = try await Script("a", "b").run(file).json
        #expect(json["file"] == "a.hurl")
        #expect(json["passed"] == false)
        #expect(json["cases"]?.array?.map { $0["outcome"]?.string } == ["ok", "skipped", "failed", "not reached"])
        #expect(
            json["cases"]?[2]?["failures"]?[0] == [
                "line": 10, "column": 1, "message": "the content differs", "difference": ["-a]]>", "+b"],
            ])
    }
}
