import Emulation
import HTTPTypes
import JSON
import Support
import Testing

@testable import Understudy

/// Compares the description of the control API with the existing calls.
@Suite("Control: the OpenAPI document")
struct ControlDocumentTests {
    private static let methods = ["get", "put", "post", "delete", "patch", "options", "head"]

    private func document() async throws -> JSON {
        try await World(at: nil).control(.get, "openapi.json").json
    }

    /// Every operation as `METHOD /path`, with its description.
    private func described(_ document: JSON) -> [(call: String, operation: JSONObject)] {
        (document["paths"]?.object ?? [:]).flatMap { path in
            (path.value.object ?? [:]).compactMap { member in
                guard Self.methods.contains(member.name), let operation = member.value.object else { return nil }
                return ("\(member.name.uppercased()) \(path.name)", operation)
            }
        }
    }

    private let operations = ControlAPI.operations

    @Test("is OpenAPI 3.1 in JSON", arguments: Depth.allCases)
    func form(_ depth: Depth) async throws {
        let answer = try await World(depth, at: nil).control(.get, "openapi.json")
        #expect(answer.status == 200)
        #expect(answer["content-type"] == "application/json; charset=utf-8")
        #expect(answer.json["openapi"] == "3.1.0")
        #expect(answer.json["info"]?["version"] == .string(Emulator.version))
    }

    @Test("describes every call and nothing else, under its id")
    func complete() async throws {
        let described = described(try await document())
        #expect(Set(described.map(\.call)) == Set(operations.map(\.endpoint.description)))
        #expect(described.count == operations.count)
        for operation in operations {
            let entry = described.first { $0.call == operation.endpoint.description }?.operation
            #expect(entry?["operationId"]?.string == operation.id)
            #expect(entry?["summary"]?.string?.hasSuffix(".") == true, "\(operation.id)")
        }
    }

    @Test("lists exactly the methods that each path knows", arguments: Depth.allCases)
    func methods(_ depth: Depth) async throws {
        let world = try await World(depth, at: nil)
        let paths = try #require(try await document()["paths"]?.object)
        for path in paths {
            let known = (path.value.object ?? [:]).map(\.name).filter(Self.methods.contains).map { $0.uppercased() }
            let target = path.name.replacing("/_understudy/", with: "").replacing(/\{[a-z]+\}/, with: "x")
            let allowed = try await world.control(.patch, target)["allow"]?.split(separator: ", ").map(String.init)
            #expect(allowed.map(Set.init) == Set(known), "\(path.name)")
        }
    }

    @Test("a path without parameters hides the one with a parameter beside it", arguments: ["", "/", "//"])
    func literal(_ slashes: String) async throws {
        let world = try await World(at: nil)
        try await world.control(.get, "journal/verify\(slashes)").expectProblem(
            405, "method-not-allowed", "allows POST.")
        try await world.control(.get, "journal/verif\(slashes)").expectProblem(404, "no-such-entry", "verif")
    }

    @Test("gives every call an id of its own")
    func ids() async throws {
        let ids = described(try await document()).compactMap { $0.operation["operationId"]?.string }
        #expect(ids.count == Set(ids).count)
        #expect(!ids.isEmpty)
    }

    @Test("refers to nothing that is not there, and keeps nothing that nobody refers to")
    func references() async throws {
        let document = try await document()
        let references = Set(Self.references(in: document))
        for reference in references {
            let place = reference.split(separator: "/").dropFirst().reduce(document as JSON?) { $0?[String($1)] }
            #expect(place != nil, "\(reference)")
        }
        let schemas = (document["components"]?["schemas"]?.object ?? [:]).map { "#/components/schemas/\($0.name)" }
        #expect(schemas.filter { !references.contains($0) } == [])
        #expect(schemas.count == Set(schemas).count)
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

    @Test("names the parameters that each call reads, and says something of each")
    func parameters() async throws {
        let described = described(try await document())
        for operation in operations {
            let entry = described.first { $0.call == operation.endpoint.description }?.operation
            let parameters = entry?["parameters"]?.array ?? []
            let names = { (place: String) in
                parameters.filter { $0["in"]?.string == place }.compactMap { $0["name"]?.string }
            }
            #expect(names("path") == operation.pathParameters, "\(operation.id)")
            #expect(names("query") == operation.query, "\(operation.id)")
            #expect(parameters.allSatisfy { $0["description"]?.string?.hasSuffix(".") == true }, "\(operation.id)")
        }
    }

    @Test("lists the words that the code knows")
    func words() async throws {
        let document = try await document()
        let words = { (path: String...) in
            path.reduce(document as JSON?) { $0?[$1] }?["enum"]?.array?.compactMap(\.string) ?? []
        }
        #expect(words("components", "schemas", "KeyDrill") == KeyDrill.allCases.map(\.rawValue))
        let about = document["components"]?["schemas"]?["KeyDrill"]?["description"]?.string
        #expect(about == KeyDrill.allCases.map { "\($0.rawValue): \($0.about)" }.joined(separator: " "))
        let format = document["paths"]?["/_understudy/journal/{id}"]?["get"]?["parameters"]?.array?.last
        #expect(
            format?["schema"]?["enum"]?.array?.compactMap(\.string) == JournalQuery.Form.allCases.map(\.rawValue))
        let keys = document["components"]?["schemas"]?["Issuer"]?["properties"]?["keys"]?["items"]?["properties"]
        #expect(
            keys?["role"]?["enum"]?.array?.compactMap(\.string) == IssuerKeys.Published.Role.allCases.map(\.rawValue))
    }

    @Test("says what each call may answer: refusals by what can be wrong with it")
    func refusals() async throws {
        let described = described(try await document())
        for (call, operation) in described {
            let statuses = Set((operation["responses"]?.object ?? [:]).map(\.name))
            #expect(statuses.isSuperset(of: ["400", "403", "413"]), "\(call)")
            #expect(statuses.contains("401") == !call.hasPrefix("GET /_understudy/health"), "\(call)")
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
        #expect(document["security"]?.array?.contains([:]) == (token == nil))
        #expect(document["security"]?[0] == ["controlToken": []])
        #expect(document["components"]?["securitySchemes"]?["controlToken"]?["scheme"] == "bearer")
        #expect(document["paths"]?["/_understudy/health"]?["get"]?["security"] == [])
    }

    @Test("a call refuses query parameters that its description does not name", arguments: Depth.allCases)
    func undeclaredQuery(_ depth: Depth) async throws {
        let world = try await World(depth, at: nil)
        try await world.control(.get, "clock?now=1").expectProblem(400, "invalid", "no query parameter now")
        try await world.control(.post, "reset?x").expectProblem(400, "invalid", "no query parameter x")
        try await world.control(.get, "journal?staus=1").expectProblem(400, "invalid", "did you mean “status”?")
    }
}
