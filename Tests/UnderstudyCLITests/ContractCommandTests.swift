import Expectations
import Foundation
import JSON
import Testing
import Wire

@Suite("understudy contract") struct ContractCommandTests {
    private let folder = TemporaryFolder()

    private let steering = """
        PUT {{base}}/_understudy/clock
        {"now":1800000000,"freeze":true}
        HTTP 200
        [Captures]
        now: jsonpath "$.unix"

        # is not there
        GET {{base}}/api/v1/partner/317/cart
        x-key: {{now}}
        HTTP 404
        {"type":"Not Found","code":"4","message":"Requested resource not found"}
        """

    @Test("alone it runs the cases of the fixtures in an emulator of its own") func alone() throws {
        let run = try Program.run("contract", "run").succeeds()
        #expect(run.output.contains("/contract/masked-denials.hurl:"))
        let summary = try #require(run.output.split(separator: "\n").last)
        let match = try #require(summary.firstMatch(of: /^([0-9]+) files: ([0-9]+) of ([0-9]+) cases passed$/))
        expect(match.2, is: match.3)
    }

    @Test("against a running emulator each file has a sandbox of its own, which is gone afterwards")
    func running() async throws {
        try folder.write(steering, to: "cases/a.hurl")
        try folder.write(steering, to: "cases/deep/b.hurl")
        try folder.write("not Hurl", to: "cases/readme.txt")
        try folder.write("t0ken\n", to: "token")
        let server = try await RunningServer("--log", "off", "--control-token", "t0ken")
        let run = try Program.run(
            "contract", "run", "cases", "--against", server.base, "--control-token", "@token", "--junit", "report.xml",
            in: folder
        ).succeeds()
        expect(
            run.output,
            is: """
                ok  cases/a.hurl:8  GET /api/v1/partner/317/cart  # is not there
                ok  cases/deep/b.hurl:8  GET /api/v1/partner/317/cart  # is not there
                2 files: 2 of 2 cases passed

                """)
        #expect(try folder.read("report.xml").contains("<testsuites name=\"contract\" tests=\"2\" failures=\"0\""))
        let listed = try await server.json("/_understudy/sandboxes", ["authorization": "Bearer t0ken"])
        expect(listed["sandboxes"]?.array?.map { $0["name"] }, is: ["default"])
    }

    @Test("what differs is shown with what the journal knows, and the exit code is 1") func difference() throws {
        let text = """
            GET {{base}}/api/v1/partner/317/customer/entity123/wallet
            HTTP 403
            {"type":"Authentication","code":"2","message":"Access is denied."}
            GET {{base}}/b
            HTTP 404
            """
        try folder.write(text, to: "a.hurl")
        let run = try Program.run("contract", "run", "a.hurl", "--junit", "a.xml", in: folder).exits(1)
        expect(run.complaint, is: "")
        #expect(try folder.read("a.xml").contains("the journal says: masked-api-key: "))
        let (reason, next) = (run.output.firstRange(of: "the journal says"), run.output.firstRange(of: "not reached"))
        #expect(try #require(reason).lowerBound < #require(next).lowerBound, "below the case that it is about")
        #expect(run.output.contains("FAILED  a.hurl:1  GET /api/v1/partner/317/customer/entity123/wallet\n"))
        #expect(run.output.contains("    a.hurl:3:1: the content differs\n"))
        #expect(run.output.contains("      -  \"code\": \"2\",\n      +  \"code\": \"1\",\n"))
        #expect(run.output.contains("    the journal says: masked-api-key: "))
        // A request that was not sent is not in the journal, and the one before it explains nothing.
        try folder.write("GET {{base}}/a\nHTTP 404\nGET {{base}}/{{b}}\nHTTP 200", to: "b.hurl")
        let unsent = try Program.run("contract", "run", "b.hurl", in: folder).exits(1)
        #expect(!unsent.output.contains("the journal says"))
        let json = try Program.run("contract", "run", "a.hurl", "--json", in: folder).exits(1)
        let results = try JSON.parse(json.output.utf8)
        expect(results[0]?["passed"], is: false)
        expect(results[0]?["cases"]?[0]?["failures"]?[0]?["line"], is: 3)
    }

    private let toVendor = """
        POST {{base}}/_understudy/tokens/vendor/login
        HTTP 200
        [Captures]
        token: jsonpath "$.token"
        GET {{base}}/things
        x-key: {{token}}
        HTTP 200
        {"path":"/things","key":"{{token}}"}
        """

    @Test("an emulator under a name that is none of its own is not taken for a vendor") func foreignName() throws {
        let server = try LocalServer { _ in
            .json(["error": ["code": "foreign-host", "message": "Host is x.example."]], status: .forbidden)
        }
        try folder.write("GET {{base}}/a\nHTTP 200\n", to: "a.hurl")
        try Program.run("contract", "run", "a.hurl", "--against", server.base, in: folder).refuses(
            "\(server.base) refuses control calls: Host is x.example.\n")
    }

    @Test("against a server that is no emulator, control calls are left out, and variables take their place")
    func vendor() throws {
        try folder.write(toVendor, to: "a.hurl")
        try folder.write("# real ones\n\ntoken=\"12\"\nother=x=y\n", to: "credentials.env")
        let server = try LocalServer { request in
            if request.path.contains("_understudy") { return .text("no such page", status: .notFound) }
            let key = request.fields.first { $0.name == "x-key" }?.value ?? ""
            return .json(["path": .string(String(request.path)), "key": .string(key)])
        }
        let run = try Program.run(
            "contract", "run", "a.hurl", "--against", server.base + "/", "--variables-file", "credentials.env",
            in: folder)
        expect(run.output, is: "ok  a.hurl:5  GET /things\n1 files: 1 of 1 cases passed, 1 control calls skipped\n")
        #expect(run.complaint.hasPrefix("\(server.base) is not an emulator: control calls are skipped"))
        let missing = try Program.run("contract", "run", "a.hurl", "--against", server.base, in: folder).exits(1)
        #expect(
            missing.output.contains(
                "    a.hurl:6:8: the variable token has no value: the call in line 4 that gives it one is left out; give it one "
                    + "with --variable token=… or in the file of --variables-file\n"))
    }

    @Test("the control token goes to the control calls of an emulator, and to nobody else") func token() async throws {
        let stranger = try LocalServer { _ in .text("no such page", status: .notFound) }
        let text = """
            PUT {{base}}/_understudy/clock
            {"now":1800000000,"freeze":true}
            HTTP 200
            GET \(stranger.base)/_understudy/health
            HTTP 404
            GET {{stranger}}/a?b=/_understudy/c
            HTTP 404
            """
        try folder.write(text, to: "a.hurl")
        let server = try await RunningServer("--log", "off", "--control-token", "t0ken")
        let options = ["--control-token", "t0ken", "--variable", "stranger=\(stranger.base)"]
        let line = ["contract", "run", "a.hurl", "--against"]
        try Program.run(line + [server.base] + options, in: folder).exits(0)
        expect(stranger.seen, is: ["/_understudy/health", "/a"], "without a token")
        try Program.run(line + [server.base], in: folder).refuses(
            "\(server.base) asks for its control token; give it with --control-token")
        let direct = try Program.run(line + [stranger.base] + options, in: folder)
        #expect(direct.output.hasSuffix("1 files: 1 of 1 cases passed, 2 control calls skipped\n"))
        expect(stranger.seen.dropFirst(2), is: ["/_understudy/health", "/a"], "without a token")
    }

    @Test("an answer that a fault breaks is told alike with and without a socket") func broken() async throws {
        for (index, fault) in [#""reset""#, #""empty""#, #"{"truncate":1}"#, #""garbage""#].enumerated() {
            let text = """
                PUT {{base}}/_understudy/faults
                {"route":"rua.ping","fault":\(fault)}
                HTTP 200
                GET {{base}}/v2/credentials/ping
                HTTP 200
                """
            try folder.write(text, to: "cases/\(index).hurl")
        }
        let server = try await RunningServer("--log", "off")
        for options in [[], ["--against", server.base]] {
            let run = try Program.run(["contract", "run", "cases"] + options, in: folder).exits(1)
            let told = run.output.components(separatedBy: ": the connection ended before the answer was complete.\n")
            expect(told.count, is: 5, run.output)
        }
    }

    @Test("an answer to HEAD has no content, with and without a socket") func head() async throws {
        try folder.write("HEAD {{base}}/none\nHTTP 404\n[Asserts]\nbytes count == 0\n", to: "a.hurl")
        let server = try await RunningServer("--log", "off")
        for options in [[], ["--against", server.base + "//"]] {
            let run = try Program.run(["contract", "run", "a.hurl"] + options, in: folder).succeeds()
            expect(run.output, is: "ok  a.hurl:1  HEAD /none\n1 files: 1 of 1 cases passed\n")
        }
    }

    @Test("a file of variables may have CR and LF, blanks around its lines, and quotes without escapes")
    func variablesFile() throws {
        let text = """
            GET {{base}}/none
            HTTP 404
            [Asserts]
            variable "a" == 1
            variable "b" == "1"
            variable "c" == "x\\\\n\\"y"
            variable "d" == "x\\"y=z"
            variable "e" == null
            """
        try folder.write(text, to: "a.hurl")
        try folder.write(
            "# real\r\n a=1 \r\n\r\nb=\"1\"\t\r\nc=\"x\\n\"y\"\r\n  # no\r\nd=x\"y=z\r\ne=null", to: "v.env")
        try Program.run("contract", "run", "a.hurl", "--variables-file", "v.env", in: folder).exits(0)
    }

    @Test("a run in which no case was run is no success", arguments: ["", "GET {{base}}/a\n[Options]\nskip: true\n"])
    func nothing(_ text: String) throws {
        try folder.write(text, to: "a.hurl")
        let run = try Program.run("contract", "run", "a.hurl", in: folder).exits(1)
        #expect(run.output.contains("1 files: 0 of "))
        #expect(run.complaint.contains("no case was run."))
    }

    @Test("a report that cannot be written is noticed before the first request") func report() throws {
        try folder.write("GET {{base}}/a\nHTTP 404\n", to: "a.hurl")
        let server = try LocalServer { _ in .text("no such page", status: .notFound) }
        try Program.run(
            "contract", "run", "a.hurl", "--against", server.base, "--junit", "no/where.xml", in: folder
        ).refuses("the report no/where.xml cannot be written: No such file or directory")
        expect(server.seen, is: ["/_understudy/health"])
    }

    @Test("over TLS the local CA is trusted, and a sandbox that the URL names is used and stays")
    func secure() async throws {
        try folder.write(steering, to: "a.hurl")
        let environment = ["UNDERSTUDY_CA_DIRECTORY": folder.path + "/ca"]
        let server = try await RunningServer("--log", "off", "--https-port", "0", environment: environment, in: folder)
        let secureBase = try #require(server.secureBase)
        try Program.run(
            "contract", "run", "a.hurl", "--against", secureBase + "/~mine", environment: environment, in: folder
        ).exits(0)
        expect(try await server.json("/~mine/_understudy/journal")["entries"]?.array?.count, is: 1)
        let stranger = try Program.run("contract", "run", "a.hurl", "--against", secureBase, in: folder).exits(1)
        #expect(stranger.complaint.contains("the server's certificate is not trusted"))
    }

    @Test("where nobody answers, the answer is no") func nobody() throws {
        try folder.write(toVendor, to: "a.hurl")
        let run = try Program.run("contract", "run", "a.hurl", "--against", "http://127.0.0.1:1", in: folder).exits(1)
        expect(run.output, is: "")
        #expect(run.complaint.contains("127.0.0.1:1 cannot be reached"))
    }

    static let misuses: [[String]: String] = [
        ["bad.hurl"]: "bad.hurl:2:1: found [Multipart]; a request may have [Query], [Form]",
        ["none.hurl"]: "there is no file or folder none.hurl.",
        ["empty"]: "empty has no contract cases; expected files with names such as sign-in.hurl.",
        ["good.hurl", "--variable", "a"]: "--variable a is not of the form NAME=VALUE.",
        ["good.hurl", "--variables-file", "wrong.env"]: "wrong.env:2: b is not of the form NAME=VALUE.",
        ["good.hurl", "--variables-file", "no.env"]: "the file of variables no.env cannot be read",
        ["good.hurl", "--against", "ftp://a"]: "\"ftp://a/_understudy/health\" is not a URL for a request",
        ["good.hurl", "--against", "http://a", "--within", "soon"]: "--within soon is not a duration",
        ["good.hurl", "--within", "1s"]: "--within and --control-token are for a server; name one",
        ["good.hurl", "--control-token", ""]: "--within and --control-token are for a server; name one",
        ["good.hurl", "--against", "http://a/?x=1"]: "--against http://a/?x=1 has a query or a fragment",
        ["good.hurl", "--against", "http://a#b"]: "--against http://a#b has a query or a fragment",
        ["good.hurl", "--variable", "base=http://b"]: "the variable base is the server's URL",
        ["good.hurl", "--against", "http://a", "--variable", "base=http://b"]: "the variable base is the server's URL",
        ["good.hurl", "--variable", "a=\"b"]: "--variable the value of a begins with a quote",
        ["good.hurl", "--variable", "1a=b"]: "--variable 1a cannot stand between {{ and }}",
        ["good.hurl", "--variable", "newUuid=b"]: "--variable newUuid cannot stand between {{ and }}",
        ["good.hurl", "--junit", "no/where.xml"]: "the report no/where.xml cannot be written",
    ]

    @Test("a wrong file, variable or option is misuse and says what would be right", arguments: Self.misuses)
    func misuse(_ arguments: [String], _ complaint: String) throws {
        try folder.write("GET {{base}}/a\n[Multipart]\nb: c\n", to: "bad.hurl")
        try folder.write("GET {{base}}/a\nHTTP 404\n", to: "good.hurl")
        try folder.write("", to: "empty/readme.txt")
        try folder.write("a=1\nb\n", to: "wrong.env")
        try Program.run(["contract", "run"] + arguments, in: folder).refuses(complaint)
    }

    @Test("fixtures check refuses a contract case that contract run would refuse") func fixturesCheck() throws {
        try folder.write("GET {{base}}/a\nHTTP yes\n", to: "bad/rezolve/contract/a.hurl")
        try Program.run("fixtures", "check", "bad", in: folder).refuses(
            "bad/rezolve/contract/a.hurl:2:6: found “yes”; expected a status")
    }
}
