import Emulation
import Expectations
import JSON
import Testing
import Tokens

@testable import UnderstudyCLI

@Suite("understudy fixtures import") struct FixturesImportTests {
    private let folder = TemporaryFolder()

    /// A HAR of two calls to the app's own backend, one of them twice, and of one to a vendor.
    private static let recording: JSON = {
        func entry(_ method: String, _ url: String, _ type: String, _ status: Int, _ text: String) -> JSON {
            [
                "startedDateTime": "2027-01-15T08:00:00Z",
                "request": [
                    "method": .string(method), "url": .string(url),
                    "headers": [
                        ["name": "Authorization", "value": "Bearer sesame-open-now"],
                        ["name": "Cookie", "value": "session=sesame-cookie"],
                    ],
                ],
                "response": [
                    "status": JSON(status),
                    "headers": [
                        ["name": "Content-Type", "value": .string(type)],
                        ["name": "Cache-Control", "value": "no-store"],
                        ["name": "Set-Cookie", "value": "session=sesame-cookie"],
                    ],
                    "content": ["text": .string(text)],
                ],
            ]
        }
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtaXJhIn0.c2VzYW1lLXNpZ25lZA"
        let basket = #"{"id":17,"access_token":"sesame-access","jwt":"\#(token)","user":{"password":"sesame-pass"}}"#
        let host = "https://api.example.com"
        return [
            "log": [
                "entries": [
                    entry("GET", host + "/my/own/baskets/17?key=sesame-query", "application/json", 200, basket),
                    entry("GET", host + "/my/own/baskets/18", "application/json", 404, "{}"),
                    entry("POST", host + "/my/own/notes", "text/plain", 201, "noted"),
                    entry(
                        "GET", host + "/oauth2/default/.well-known/openid-configuration", "application/json", 200, "{}"),
                ]
            ]
        ]
    }()

    private static let routes = #"""
        # yaml-language-server: $schema=schemas/routes.schema.json
        # Recorded answers, their secrets masked: change what your app needs to find.
        routes:
          my.own.baskets.get:
            method: GET
            path: "/my/own/baskets/{part4}"
            respond: {
              "status": 200,
              "headers": {
                "content-type": "application/json",
                "cache-control": "no-store"
              },
              "body": {
                "id": 17,
                "access_token": "***",
                "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtaXJhIn0.***",
                "user": {
                  "password": "***"
                }
              }
            }
          my.own.notes.post:
            method: POST
            path: "/my/own/notes"
            respond: {
              "status": 201,
              "headers": {
                "content-type": "text/plain",
                "cache-control": "no-store"
              },
              "body": "noted"
            }

        """#

    @Test("it makes routes of a HAR, each once, with secrets masked; serve answers with the file")
    func archive() throws {
        try folder.write(Self.recording.text, to: "app.har")
        let run = try Program.run("fixtures", "import", "app.har", in: folder)
        let omitted = """
            understudy: left out: GET /my/own/baskets/{part4}: it has an answer already
            understudy: left out: GET /oauth2/default/{part3}/openid-configuration: it is one of okta

            """
        expect(run.complaint, is: omitted)
        expect(run.output, is: Self.routes)
        #expect(!run.output.contains("sesame"))
        let piped = try Program.run("fixtures", "import", "-", input: Self.recording.text, in: folder)
        expect(piped.output, is: Self.routes)
        let written = try Program.run("fixtures", "import", "app.har", "--output", "Fixtures/own/app.yaml", in: folder)
        expect([written.output, written.complaint], is: ["wrote Fixtures/own/app.yaml\n", omitted])
        expect(try folder.read("Fixtures/own/app.yaml"), is: Self.routes)
        let check = try Program.run("fixtures", "check", "Fixtures", in: folder).succeeds()
        #expect(check.output.contains("own: 2 routes, 3 failures, good"))
        let listed = try Program.run("routes", "--vendor", "own", "--json", in: folder)
        expect(try JSON.parse(listed.output.utf8)[0]?["path"], is: "/my/own/baskets/{part4}")
        try Program.run("fixtures", "import", "app.har", "--output", "Fixtures/own/app.yaml", in: folder).refuses(
            "--output Fixtures/own/app.yaml exists; expected the name of a new file.\n")
        let schemas = try Program.run("fixtures", "schemas", "Fixtures", in: folder)
        #expect(schemas.output.contains("wrote Fixtures/own/schemas/routes.schema.json\n"), "\(schemas)")
    }

    @Test("a call that can be no route is left out and named, and no route has the name of a vendor's")
    func unfitting() throws {
        let calls = [
            ("GET", "/items"), ("GET", "/items/"), ("HEAD", "/items/a.png"), ("GET", "/_understudy/x"),
            ("GET", "/a//b"),
            ("GET", "/me"),
        ]
        let entries = calls.map { method, path -> JSON in
            ["request": ["method": .string(method), "url": .string("https://api.example.com" + path), "headers": []]]
        }
        let run = try Program.run(
            "fixtures", "import", "-", "--output", "Fixtures/own/some.yaml",
            input: JSON.object(["log": ["entries": .array(entries)]]).text, in: folder
        ).exits(0)
        expect(
            run.complaint.split(separator: "\n").map { $0.prefix { $0 != ";" } },
            is: [
                "understudy: left out: GET /items/: found GET /items/, to which items.get answers",
                "understudy: left out: HEAD /items/a.png: found the method “HEAD”",
                "understudy: left out: GET /_understudy/x: found /_understudy, which is the control API's or a sandbox's",
                "understudy: left out: GET /a//b: found “” in the path",
            ])
        let made = try folder.read("Fixtures/own/some.yaml")
        #expect(made.contains("\n  items.get:") && made.contains("\n  me.get-also:"), "\(made)")
        try Program.run("fixtures", "check", "Fixtures", in: folder).succeeds()
        try Program.run("fixtures", "import", "curl -I https://api.example.com/a", in: folder).refuses(
            "the curl command: HEAD /a: found the method “HEAD”; expected one of GET, ")
    }

    @Test("a content that is no text, or would begin a template, is left out and named") func contents() throws {
        func entry(_ path: String, _ content: JSON) -> JSON {
            [
                "request": ["method": "GET", "url": .string("https://api.example.com" + path), "headers": []],
                "response": ["status": 200, "headers": [], "content": content],
            ]
        }
        let har: JSON = [
            "log": [
                "entries": [
                    entry("/greeting", ["text": #"{"text":"Hello {{name}}"}"#]), entry("/plain", ["text": "hello"]),
                    entry("/image", ["text": "iVBORw0KGgo=", "encoding": "base64"]),
                ]
            ]
        ]
        let run = try Program.run("fixtures", "import", "-", input: har.text, in: folder).exits(0)
        expect(
            run.complaint,
            is: """
                understudy: left out: the content of GET /greeting: it has {{, which begins a template
                understudy: left out: the content of GET /image: it is no text

                """)
        #expect(
            run.output.contains("path: \"/image\"\n    respond: {\n      \"status\": 200\n    }\n"), "\(run.output)")
        #expect(run.output.contains("\"body\": \"hello\"") && !run.output.contains("{{"), "\(run.output)")
    }

    @Test("it makes a route of a curl command, with a remark that nothing is known of the answer")
    func command() throws {
        let run = try Program.run(
            "fixtures", "import", "curl -X PUT https://api.example.com/my/own/x -H 'Authorization: Bearer sesame'",
            in: folder
        ).succeeds()
        #expect(
            run.output.hasSuffix(
                #"""
                routes:
                  my.own.x.put:
                    method: PUT
                    path: "/my/own/x"
                    # The recording has no answer.
                    respond: {
                      "status": 200
                    }

                """#))
    }

    @Test("with --contract it makes a case of a vendor's call, whose token is minted anew, and which passes")
    func contract() throws {
        let minted = try Program.run("token", "mint", "rezolve", "login", in: folder).output.dropLast()
        let claims = CompactToken(String(minted)).claims ?? [:]
        // As if the real server had signed it: nobody has that key here.
        let token = minted.split(separator: ".").prefix(2).joined(separator: ".") + ".c2VzYW1lLXNpZ25lZA"
        let text = """
            GET /api/v1/partner/317/customer/\(claims["rezolve_entity_id"]?.string ?? "x")/addressbook HTTP/1.1
            Host: api.example.com
            Authorization: Bearer \(token)
            Cookie: session=sesame-cookie
            x-rezolve-partner-apikey: a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6
            x-rezolve-device-id: \(claims["device_id"]?.string ?? "x")

            HTTP/1.1 200 OK
            Content-Type: application/json

            []
            """
        let run = try Program.run("fixtures", "import", "--contract", "-", input: text, in: folder).succeeds()
        #expect(run.output.contains("POST {{base}}/_understudy/tokens/rezolve/login"), "\(run.output)")
        #expect(run.output.contains("{{token1}}"), "\(run.output)")
        #expect(!run.output.contains("defect") && !run.output.contains("sesame"), "\(run.output)")
        try folder.write(run.output, to: "call.hurl")
        try Program.run("contract", "run", "call.hurl", in: folder).exits(0)
        let unanswered = text.prefix { !$0.isNewline } + "\nHost: api.example.com\nAuthorization: Bearer \(token)\n"
        let open = try Program.run("fixtures", "import", "--contract", "-", input: String(unanswered), in: folder)
        #expect(open.output.hasSuffix("\nHTTP *\n"), "\(open)")
    }

    @Test(
        "wrong input is misuse, with a sentence that says what was found and what would be right",
        arguments: [
            ["nowhere.har"]: "the recording nowhere.har cannot be read: No such file or directory",
            ["-"]: "standard input: it is empty; expected a HAR, a curl command, or a request as text.",
            ["curl https://a.example/authn/factors -F a=b"]:
                "the curl command: -F at word 3 sends a file or a multipart form, which is not taken; expected a HAR with that call.",
            ["curl https://a.example/oauth2/default/.well-known/openid-configuration"]:
                "the curl command: each of its calls is one of a vendor's routes; expected another call, or --contract.",
            ["--contract", "curl https://a.example/my/own/x"]:
                "the curl command: none of its calls is one of a vendor's routes; without --contract it makes own routes.",
            ["--contract", "curl https://a.example/oauth2/default/v1/userinfo -H 'Authorization: Bearer sesame-open'"]:
                "the curl command: no contract case can be made of entry 1, userinfo.get, which holds a secret that the journal masks.",
            ["--entry", "2", "curl https://a.example/my/own/x"]: "--entry 2: it has 1 entries, counted from 1.",
        ] as [[String]: String])
    func misuse(_ words: [String], _ complaint: String) throws {
        try Program.run(["fixtures", "import"] + words, in: folder).refuses(complaint)
    }

    @Test("standard input that is no JSON is misuse") func brokenInput() throws {
        try Program.run("fixtures", "import", "-", input: "{").refuses("standard input: it is not JSON: ")
    }
}
