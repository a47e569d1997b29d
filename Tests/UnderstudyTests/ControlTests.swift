import Emulation
import Expectations
import Foundation
import HTTPTypes
import JSON
import Support
import Testing

@testable import Understudy

@Suite("The control API") struct ControlTests {
    @Test("says that it is well, with vendors and the fixtures' fingerprint") func health() async throws {
        let world = try await World()
        let answer = try await world.control(.get, "health")
        answer.expect(200)
        expect(answer.json["status"], is: "ok")
        expect(answer.json["version"], is: .string(Emulator.version))
        expect(
            answer.json["vendors"]?.array?.compactMap { $0["id"]?.string },
            is: world.emulator.vendors.map(\.identity.id))
        expect(answer.json["fixtures"], is: .string(world.emulator.inForce.loaded.fingerprint))
        expect(answer["content-type"], is: "application/json; charset=utf-8")
    }

    @Test(
        "an unknown call is 404 and names the nearest one",
        arguments: [
            ("clok", "GET /_understudy/clock"), ("journal/1/x", "/_understudy/journal/{id}"),
            ("Clock", "GET /_understudy/clock"),
        ])
    func unknownCall(_ path: String, _ nearest: String) async throws {
        try await World().control(.get, path).expectProblem(404, "no-such-call", nearest)
    }

    @Test(
        "a path that only begins alike is not the control API's", arguments: ["/_understudyx", "/x/_understudy/health"])
    func otherPaths(_ path: String) async throws {
        try await World().call(.get, path).expectProblem(404, "no-vendor", "No vendor owns this path")
    }

    @Test(
        "content that is not an object, or none of the call's, is refused", arguments: ["clock", "settings", "faults"],
        [
            ("", "content is empty"), ("{", "not JSON"), ("[]", "a JSON array"), ("1", "a JSON number"),
            (#"{"x":1} "#, "no member x"),
        ])
    func malformed(_ path: String, _ example: (body: String, message: String)) async throws {
        try await World().control(.put, path, example.body)
            .expectProblem(400, example.message == "no member x" ? "invalid" : "body-malformed", example.message)
    }

    @Test("no control call appears in the journal") func unjournaled() async throws {
        let world = try await World()
        for path in Set(ControlAPI.operations.map(\.endpoint.pattern)) {
            let target = path.replacing("/_understudy/", with: "").replacing(/\{[a-z]+\}/, with: "x")
            try await world.control(.get, target)
            try await world.control(.put, target, "{")
        }
        expect(world.sandbox.journal.count, is: 0)
    }

    @Test("with a control token every call but health asks for it") func token() async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures, controlToken: "steer"))
        let world = try await World(on: stage, at: nil)
        try await world.control(.get, "health").expect(200)
        let right = [("authorization", "bearer  steer")]
        for call in ["clock", "metrics"] {
            for value in [nil, "Bearer wrong", "steer", "Basic steer", "Bearer steer x"] as [String?] {
                try await world.control(.get, call, fields: value.map { [("authorization", $0)] } ?? [])
                    .expectProblem(401, "control-token-wrong", "requires its bearer token")
            }
            try await world.control(.get, call, fields: right).expect(200)
        }
        try await world.control(.post, "reset", fields: right).expect(204)
        expect(try await world.call(.get, "/v1/user/x").status, is: 404, "vendors ask for no control token")
    }
}

@Suite("Control: the OpenAPI document") struct ControlDocumentTests {
    private static let methods = ["get", "put", "post", "delete", "patch", "options", "head"]

    private let document: JSON

    init() async throws { document = try await World(at: nil).control(.get, "openapi.json").json }

    private var described: [(call: String, operation: JSONObject)] {
        (document["paths"]?.object ?? [:]).flatMap { path in
            (path.value.object ?? [:]).compactMap { member in
                guard Self.methods.contains(member.name), let operation = member.value.object else { return nil }
                return ("\(member.name.uppercased()) \(path.name)", operation)
            }
        }
    }

    private let operations = ControlAPI.operations

    @Test("describes every call and nothing else, under an id of its own") func complete() {
        let described = described
        expect(Set(described.map(\.call)), is: Set(operations.map(\.endpoint.description)))
        expect(described.count, is: operations.count)
        expect(Set(operations.map(\.id)).count, is: operations.count)
        expect(document["info"]?["version"], is: .string(Emulator.version))
        for operation in operations {
            let entry = described.first { $0.call == operation.endpoint.description }?.operation
            expect(entry?["operationId"]?.string, is: operation.id)
            expect(entry?["summary"]?.string?.hasSuffix("."), is: true, "\(operation.id)")
        }
    }

    @Test("no two calls clash") func noClash() throws {
        let identity = VendorIdentity(
            id: "control", title: "Control", prefixes: ["/_understudy"], repeatedSlashes: .collapse,
            ignoresTrailingSlash: true)
        let routes = operations.map { (id: $0.id, endpoints: [$0.endpoint]) }
        try RouteTable([RouteTable.Member(identity: identity, routes: routes)]).check()
    }

    @Test("lists exactly the methods that each path knows, and any other one is 405") func methods() async throws {
        let world = try await World(at: nil)
        let paths = try #require(document["paths"]?.object)
        for path in paths {
            let known = (path.value.object ?? [:]).map(\.name).filter(Self.methods.contains).map { $0.uppercased() }
            let target = path.name.replacing("/_understudy/", with: "").replacing(/\{[a-z]+\}/, with: "x")
            let refused = try await world.control(.patch, target)
            let allowed = refused["allow"] ?? ""
            refused.expectProblem(405, "method-not-allowed", allowed)
            expect(Set(allowed.split(separator: ", ").map(String.init)), is: Set(known), "\(path.name)")
        }
    }

    @Test("a path without parameters hides the one with a parameter beside it", arguments: ["", "/", "//"])
    func literal(_ slashes: String) async throws {
        let world = try await World(at: nil)
        try await world.control(.get, "journal/verify\(slashes)").expectProblem(
            405, "method-not-allowed", "allows POST.")
        try await world.control(.get, "journal/verif\(slashes)").expectProblem(404, "no-such-entry", "verif")
    }

    @Test("refers to nothing that is not there, and keeps nothing that nobody refers to")
    func references() {
        let references = Set(Self.references(in: document))
        for reference in references {
            let place = reference.split(separator: "/").dropFirst().reduce(document as JSON?) { $0?[String($1)] }
            #expect(place != nil, "\(reference)")
        }
        let schemas = (document["components"]?["schemas"]?.object ?? [:]).map { "#/components/schemas/\($0.name)" }
        expect(schemas.filter { !references.contains($0) }, is: [])
        expect(schemas.count, is: Set(schemas).count)
        #expect(schemas.count > 15)
    }

    private static func references(in value: JSON) -> [String] {
        switch value {
        case .object(let object):
            object.flatMap { member in
                member.name == "$ref" ? [member.value.string].compactMap(\.self) : references(in: member.value)
            }
        case .array(let elements): elements.flatMap(references)
        case .null, .bool, .number, .string: []
        }
    }

    @Test("names the parameters that each call reads, and says something of each") func parameters() {
        let described = described
        for operation in operations {
            let entry = described.first { $0.call == operation.endpoint.description }?.operation
            let parameters = entry?["parameters"]?.array ?? []
            let names = { (place: String) in
                parameters.filter { $0["in"]?.string == place }.compactMap { $0["name"]?.string }
            }
            expect(names("path"), is: operation.pathParameters, "\(operation.id)")
            expect(names("query"), is: operation.query, "\(operation.id)")
            #expect(parameters.allSatisfy { $0["description"]?.string?.hasSuffix(".") == true }, "\(operation.id)")
        }
    }

    @Test("lists the words that the code knows") func words() {
        let words = { (path: String...) in
            path.reduce(document as JSON?) { $0?[$1] }?["enum"]?.array?.compactMap(\.string) ?? []
        }
        expect(words("components", "schemas", "KeyDrill"), is: KeyDrill.allCases.map(\.rawValue))
        let about = document["components"]?["schemas"]?["KeyDrill"]?["description"]?.string
        expect(about, is: KeyDrill.allCases.map { "\($0.rawValue): \($0.about)" }.joined(separator: " "))
        let format = document["paths"]?["/_understudy/journal/{id}"]?["get"]?["parameters"]?.array?.last
        expect(format?["schema"]?["enum"]?.array?.compactMap(\.string), is: JournalQuery.Form.allCases.map(\.rawValue))
        let keys = document["components"]?["schemas"]?["Issuer"]?["properties"]?["keys"]?["items"]?["properties"]
        expect(
            keys?["role"]?["enum"]?.array?.compactMap(\.string), is: IssuerKeys.Published.Role.allCases.map(\.rawValue))
    }

    @Test("says what each call may answer: refusals by what can be wrong with it") func refusals() {
        for (call, operation) in described {
            let statuses = Set((operation["responses"]?.object ?? [:]).map(\.name))
            #expect(statuses.isSuperset(of: ["400", "403", "413"]), "\(call)")
            expect(
                statuses.contains("401"), is: !call.hasPrefix("GET /_understudy/health") && call != "GET /_understudy/",
                "\(call)")
            if call.contains("{") { #expect(statuses.contains("404"), "\(call)") }
            #expect(statuses.contains { $0.hasPrefix("2") }, "\(call)")
        }
    }

    @Test(
        "asks for the control token where the server does, and health for none", arguments: [nil, "steer"] as [String?])
    func security(_ token: String?) async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures, controlToken: token))
        let fields = token.map { [("authorization", "Bearer \($0)")] } ?? []
        let document = try await World(on: stage, at: nil).control(.get, "openapi.json", fields: fields).json
        expect(document["security"]?.array?.contains([:]), is: (token == nil))
        expect(document["security"]?[0], is: ["controlToken": []])
        expect(document["components"]?["securitySchemes"]?["controlToken"]?["scheme"], is: "bearer")
        expect(document["paths"]?["/_understudy/health"]?["get"]?["security"], is: [])
    }
}

extension ReceivedAnswer {
    func expectProblem(
        _ status: Int, _ code: String, _ message: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(self.status == status, "\(text)", sourceLocation: sourceLocation)
        #expect(json["error"]?["code"]?.string == code, sourceLocation: sourceLocation)
        #expect(json["error"]?["message"]?.string?.contains(message) == true, "\(text)", sourceLocation: sourceLocation)
    }
}

/// The page for people; its behavior in a browser is tested in `Tests/Interop`.
@Suite("The page") struct PageTests {
    private static let browser = [("accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")]

    @Test("is HTML with a policy of its own, for browsers") func html() async throws {
        let answer = try await World(at: nil).bare(.get, "/_understudy/", Self.browser)
        answer.expect(200)
        for (name, value) in [
            ("content-type", "text/html; charset=utf-8"), ("content-security-policy", PageFile.policy),
            ("x-frame-options", "DENY"), ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
        ] { expect(answer[name], is: value) }
        #expect(answer.text.contains("<script type=\"module\" src=\"page/app.js\">"))
    }

    // Over sockets our own client sends the name of the host it connects to; Tests/Interop has other clients.
    @Test(
        "is an index in JSON for other clients, with addresses as the client wrote them",
        arguments: ["/", "/_understudy", "/_understudy/", "/~one/", "/~one", "/~one/_understudy/"])
    func index(_ path: String) async throws {
        let world = try await World(at: nil)
        let answer = try await world.bare(.get, path, [("host", "mocks:8081"), ("accept", "*/*")])
        answer.expect(200)
        let base = path.hasPrefix("/~one") ? "http://mocks:8081/~one" : "http://mocks:8081"
        for (name, value) in [
            ("name", "Understudy"), ("version", Emulator.version), ("dashboard", "\(base)/_understudy/"),
            ("openapi", "\(base)/_understudy/openapi.json"), ("journal", "\(base)/_understudy/journal"),
        ] { expect(answer.json[name]?.string, is: value) }
        let vendors = answer.json["vendors"]?.array ?? []
        expect(vendors.map { $0["id"]?.string }, is: world.emulator.vendors.map(\.identity.id))
        expect(Set(vendors.map { $0["base"]?.string }), is: [base])
        #expect(world.sandbox.journal.entries().isEmpty)
    }

    @Test("has every file of its folder, and nothing else") func files() throws {
        let names = try FileManager.default.contentsOfDirectory(
            atPath: Repository.root + "/Sources/Understudy/Page/Files")
        // One is a page of the documentation.
        expect(Set(names), is: Set(PageFile.all.keys).subtracting(["sources.md"]))
    }

    @Test("a file says its type, and is asked for again each time") func file() async throws {
        let file = try await World(at: nil).bare(.get, "/_understudy/page/app.js")
        file.expect(200)
        expect(file["content-type"], is: "text/javascript; charset=utf-8")
        expect(file["cache-control"], is: "no-cache")
    }

    @Test("nothing else is served", arguments: ["page/", "page/none.js", "page/../app.js", "page/app.js/", "page"])
    func missing(_ path: String) async throws {
        try await World(at: nil).bare(.get, "/_understudy/\(path)", Self.browser).expect(404)
    }

    @Test("a listener of vendors takes no control call, and one of control calls no vendor's")
    func roles() async throws {
        let emulator = try Stage.shared().emulator
        let vendors = Pipeline(emulator, as: .vendors)
        let control = Pipeline(emulator, as: .control(vendorPort: 8080))
        func status(_ pipeline: Pipeline, _ target: String) async -> (Int, String?) {
            let response = await pipeline.response(to: .init(method: .get, target: target, authority: "localhost"))
            return (response.status.code, (try? JSON.parse(response.body))?["error"]?["code"]?.string)
        }
        for target in ["/", "/_understudy/health", "/~some/_understudy/journal", "/_understudy/page/app.js"] {
            #expect(await status(vendors, target) == (404, "no-control-here"))
            expect(await status(control, target).0, is: 200)
        }
        let index = await control.response(to: .init(method: .get, target: "/", authority: "[::1]:9000"))
        let found = try JSON.parse(index.body)
        expect(found["journal"], is: "http://[::1]:9000/_understudy/journal")
        expect(found["vendors"]?[0]?["base"], is: "http://[::1]:8080")
        #expect(await status(control, "/v2/credentials/ping") == (404, "no-vendor-here"))
        #expect(await status(vendors, "/v2/credentials/ping").1 != "no-vendor-here")
    }
}
