import JSON
import Support
import Testing

@Suite("Okta's discovery and keys")
struct DiscoveryTests {
    @Test("1: each server describes itself; an unknown one is not found", arguments: Depth.allCases)
    func documents(_ depth: Depth) async throws {
        let world = try await World(depth)
        let custom = try await world.call(.get, "/oauth2/default/.well-known/openid-configuration")
        custom.expect(200)
        #expect(custom.json["issuer"] == "http://localhost:8080/oauth2/default")
        let org = try await world.call(.get, "/.well-known/openid-configuration")
        org.expect(200)
        #expect(org.json["issuer"] == "http://localhost:8080")
        #expect(org.json["jwks_uri"] == "http://localhost:8080/oauth2/v1/keys")
        let unknown = try await world.call(.get, "/oauth2/nope/.well-known/openid-configuration")
        let id = try #require(unknown.json["errorId"]?.string)
        #expect(id.hasPrefix("oae") && id.utf8.count == 25)
        unknown.expect(
            404,
            #"{"errorCode":"E0000007","errorSummary":"Not found: Resource not found: nope (AuthorizationServer)","#
                + #""errorLink":"E0000007","errorId":"\#(id)","errorCauses":[]}"#, "as-not-found")
    }

    @Test("2: keys have exactly six members, all strings", arguments: Depth.allCases)
    func keys(_ depth: Depth) async throws {
        let world = try await World(depth)
        let answer = try await world.call(.get, Example.custom + "/keys")
        answer.expect(200)
        #expect(answer["cache-control"] == "max-age=3832304, must-revalidate")
        #expect(answer["content-type"] == "application/json;charset=UTF-8")
        let keys = try #require(answer.json["keys"]?.array)
        #expect(keys.count == 2)
        for key in keys {
            #expect(key.object?.map(\.name).sorted() == ["alg", "e", "kid", "kty", "n", "use"])
            #expect(key.object?.allSatisfy { $0.value.string != nil } == true)
        }
    }

    @Test(
        "an app that asks at another address than the document's is told so in the journal",
        arguments: [
            ("10.0.2.2:8080", true), ("127.0.0.1:8080", true), ("localhost:8080", false), ("LOCALHOST:8080", false),
        ])
    func otherAddress(_ host: String, _ isNoted: Bool) async throws {
        let world = try await World()
        let answer = try await world.call(.get, "/oauth2/default/.well-known/openid-configuration", [("host", host)])
        #expect(answer.json["issuer"] == "http://localhost:8080/oauth2/default")
        let finding = answer.findings.first { $0.check == "public-base" }
        #expect(finding?.found == (isNoted ? .text("http://\(host)") : nil))
        #expect(
            finding?.note?.hasSuffix("start the server with --public-base http://\(host).") == (isNoted ? true : nil))
    }

    @Test("the issuer has the form in which the client selects its sandbox")
    func forms() async throws {
        let world = try await World()
        let path = "/.well-known/openid-configuration"
        let byPath = try await world.bare(.get, "/~\(world.name)\(path)")
        #expect(byPath.json["issuer"] == .string("http://localhost:8080/~\(world.name)"))
        let byHost = try await world.bare(.get, path, [("host", "\(world.name).localhost:9")])
        #expect(byHost.json["issuer"] == .string("http://\(world.name).localhost:8080"))
        let byField = try await world.call(.get, path, [("host", "127.0.0.1:9")])
        #expect(byField.json["issuer"] == "http://localhost:8080")
    }
}
