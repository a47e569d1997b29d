import Emulation
import Foundation
import JSON
import Support
import Testing

@testable import Understudy

@Suite("A vendor's document") struct VendorDocumentTests {
    private static let answers = """
        schemas:
          motto: { evidence: ours, source: "tests", schema: { type: object, required: [mottos], properties: { mottos: true } } }
        answers:
          jwks: { 200: { evidence: ours, source: "tests", schema: true }, 304: { evidence: ours, source: "tests" } }
          whoami:
            200: { evidence: observed, source: "sdk", schema: { type: object, properties: { kid: { type: string } } } }
            refused: [token-wrong]
          motto: { 200: { evidence: ours, source: "tests", schema: { $ref: motto } } }

        """
    private static let requests = "requests: { motto: { query: { count: { type: integer } } } }\n"

    private func folder() throws -> TemporaryFolder {
        let folder = try Notary.fixtures("kit")
        try folder.write(Self.answers, to: "notary/answers/all.yaml")
        try folder.write(Self.requests, to: "notary/requests.yaml")
        return folder
    }

    private func stage(_ folder: TemporaryFolder) throws -> Stage {
        try Stage(Emulator(fixtures: FixtureStore(layers: [folder.path]), loaders: [VendorLoader(Notary.self)]))
    }

    @Test("has routes, answers, failures and credentials") func document() async throws {
        let folder = try folder()
        let world = try await World(on: try stage(folder), at: nil)
        let answer = try await world.control(.get, "openapi/notary.json")
        #expect(answer.status == 200)
        #expect(answer["content-type"] == "application/json; charset=utf-8")
        let document = answer.json
        #expect(document["openapi"] == "3.1.0")
        #expect(
            document["info"]?.text == #"{"title":"Notary, as Understudy answers","version":"\#(Emulator.version)"}"#)
        #expect(
            document["paths"]?["/notary/whoami"]?["get"]?.text
                == ##"{"operationId":"whoami","x-route":"whoami","x-evidence":"ours","x-source":"tests","responses":{"200":{"description":"OK","x-evidence":"observed","x-source":"sdk","content":{"application/json":{"schema":{"$ref":"#/components/schemas/whoami.200"}}}},"401":{"description":"Unauthorized","content":{"application/json":{"schema":{"$ref":"#/components/schemas/failure.token-wrong"}}}}},"x-failures":["token-wrong"],"security":[{"bearer":[]}]}"##
        )
        #expect(
            document["paths"]?["/notary/motto"]?["get"]?["parameters"]?.text
                == #"[{"name":"count","in":"query","required":false,"schema":{"type":"integer"}}]"#)
        #expect(document["paths"]?["/notary/{issuer}/jwks"]?["get"]?["responses"]?["304"]?["content"] == nil)
        #expect(
            document["components"]?["schemas"]?.object?.map(\.name) == [
                "motto", "jwks.200", "whoami.200", "motto.200", "failure.nothing-here", "failure.token-wrong",
                "failure.keys-broken",
            ])
        #expect(
            document["components"]?["schemas"]?["motto.200"]?.text
                == ##"{"anyOf":[{"$ref":"#/components/schemas/motto"}],"x-evidence":"ours","x-source":"tests"}"##)
        #expect(
            document["components"]?["schemas"]?["failure.token-wrong"]?.text
                == #"{"type":"object","required":["code","motto"],"properties":{"code":{"const":"token-wrong"},"motto":{"const":"kit"}},"additionalProperties":false,"x-evidence":"ours","x-source":"tests"}"#
        )
        #expect(document["components"]?["securitySchemes"]?.text == #"{"bearer":{"type":"http","scheme":"bearer"}}"#)
        // The same fixtures give the same text.
        let again = try await World(on: try stage(folder), at: nil).control(.get, "openapi/notary.json")
        #expect(again.text == answer.text)
    }

    @Test("is read when first asked for, and says then what is wrong with its files") func late() async throws {
        let folder = try folder()
        try folder.write("answers: { whoam: {} }\n", to: "notary/answers/all.yaml")
        let store = FixtureStore(layers: [folder.path])
        let stage = try Stage(Emulator(fixtures: store, loaders: [VendorLoader(Notary.self)]))
        #expect(try store.usage(of: folder.path).unread == ["notary/answers/all.yaml", "notary/requests.yaml"])
        try await World(on: stage, at: nil).control(.get, "openapi/notary.json").expectProblem(
            500, "fixtures-wrong", "answers/all.yaml:1:12: unknown route “whoam”; did you mean “whoami”?")
        #expect(try store.usage(of: folder.path).unread == ["notary/requests.yaml"])
    }

    @Test("of an unknown vendor, or of sockets that a vendor does not have, is 404") func unknown() async throws {
        let folder = try folder()
        defer { withExtendedLifetime(folder) {} }
        let world = try await World(on: try stage(folder), at: nil)
        for kind in ["openapi", "asyncapi"] {
            try await world.control(.get, "\(kind)/notari.json")
                .expectProblem(404, "no-such-vendor", "no document is called notari.json; did you mean “notary.json”?")
            try await world.control(.get, "\(kind)/notary")
                .expectProblem(404, "no-such-vendor", "no document is called notary; known are notary.json")
        }
        try await world.control(.get, "asyncapi/notary.json").expectProblem(404, "no-sockets", "Notary has no sockets.")
    }

    @Test("of sockets has what they say and hear") func sockets() async throws {
        let folder = try Switchboard.fixtures()
        try folder.write(
            """
            answers:
              start: { 200: { evidence: ours, source: "tests" } }
              socket: { 101: { evidence: ours, source: "tests" } }
              count: { 200: { evidence: ours, source: "tests", schema: true } }
              tell: { 200: { evidence: ours, source: "tests" } }
            frames:
              count: { direction: sent, evidence: ours, source: "tests", schema: { type: integer } }
              echo: { direction: received, evidence: ours, source: "tests", schema: { type: string } }

            """, to: "switchboard/answers/all.yaml")
        let emulator = try Emulator(
            fixtures: FixtureStore(layers: [folder.path]), loaders: [VendorLoader(Switchboard.self)])
        let document = try await World(on: try Stage(emulator), at: nil).control(.get, "asyncapi/switchboard.json").json
        #expect(document["asyncapi"] == "3.0.0")
        #expect(
            document["channels"]?.text
                == ##"{"socket":{"address":"/switchboard/sessions/{session}/socket","parameters":{"session":{}},"messages":{"count":{"$ref":"#/components/messages/count"},"echo":{"$ref":"#/components/messages/echo"}}}}"##
        )
        #expect(
            document["operations"]?["socket.receive"]?.text
                == ##"{"action":"receive","channel":{"$ref":"#/channels/socket"},"messages":[{"$ref":"#/channels/socket/messages/echo"}]}"##
        )
        #expect(
            document["components"]?["messages"]?["count"]?.text
                == #"{"payload":{"type":"integer","x-evidence":"ours","x-source":"tests"}}"#)
    }

    /// The ways of OpenAPI to be ambiguous: paths that differ only in names, and operations of the same id.
    @Test("is unambiguous, and describes every endpoint", arguments: Catalog.vendors.map(\.identity.id))
    func paths(_ vendor: String) async throws {
        let world = try await World(at: nil)
        let document = try await world.control(.get, "openapi/\(vendor).json").json
        let paths = try #require(document["paths"]?.object)
        let operations = paths.flatMap { path in (path.value.object ?? [:]).map { (path.name, $0.name, $0.value) } }
        let routes = try #require(world.emulator.vendors.first { $0.identity.id == vendor }?.routes)
        #expect(operations.count == routes.flatMap(\.endpoints).count)
        #expect(Set(operations.map { $0.2["operationId"]?.string }).count == operations.count)
        #expect(Set(paths.map { $0.name.replacing(/\{[^}]*\}/, with: "{}") }).count == paths.count)
        for (path, _, operation) in operations {
            let named = (operation["parameters"]?.array ?? []).filter { $0["in"] == "path" }.compactMap {
                $0["name"]?.string
            }
            #expect(named == path.matches(of: /\{([^}]*)\}/).map { String($0.1) }, "\(path)")
            for requirement in operation["security"]?.array ?? [] {
                for scheme in requirement.object ?? [:] {
                    #expect(document["components"]?["securitySchemes"]?[scheme.name] != nil, "\(path): \(scheme.name)")
                }
            }
        }
        for reference in document.text.matches(of: ##/"\$ref":"#\/components\/schemas\/([^"]*)"/##) {
            #expect(document["components"]?["schemas"]?[String(reference.1)] != nil, "\(reference.1)")
        }
    }

    @Test("has the answers of every route", arguments: Catalog.vendors.map(\.identity.id))
    func complete(_ vendor: String) async throws {
        let loaded = try #require(try await World(at: nil).emulator.vendors.first { $0.identity.id == vendor })
        #expect(Set(try loaded.description().answers.routes.keys) == Set(loaded.routes.map(\.id)))
    }
}
