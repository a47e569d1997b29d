import JSON
import Support
import Testing

/// The fields that all answers have (section 6.3).
@Suite("Okta's common header fields")
struct HeaderTests {
    @Test("each answer has a request id of its own", arguments: Depth.allCases)
    func ids(_ depth: Depth) async throws {
        let world = try await World(depth)
        var ids: Set<String> = []
        for path in [
            Example.custom + "/keys", Example.custom + "/authorize", Example.custom + "/nothing", "/activate",
            Example.custom + "/userinfo", "/api/v1/users",
        ] {
            let id = try #require(try await world.call(.get, path)["x-okta-request-id"])
            #expect(id.wholeMatch(of: /req[0-9A-Za-z]{23}/) != nil, "\(id)")
            ids.insert(id)
        }
        #expect(ids.count == 6)
    }

    @Test("a seed makes request ids repeatable")
    func seed() async throws {
        var ids: Set<String?> = []
        for _ in 1...2 {
            let world = try await World()
            try await world.set(seed: 7)
            ids.insert(try await world.call(.get, Example.custom + "/keys")["x-okta-request-id"])
        }
        #expect(ids.count == 1)
    }

    @Test("the token endpoint and its like have a bare content type, and are not cached", arguments: Depth.allCases)
    func bare(_ depth: Depth) async throws {
        let world = try await World(depth)
        for path in ["/token", "/device/authorize"] {
            for base in [Example.custom, Example.org] {
                let answer = try await world.call(.post, base + path)
                #expect(answer["content-type"] == "application/json", "\(path)")
                #expect(answer["cache-control"] == "no-cache, no-store")
                #expect(answer["pragma"] == "no-cache")
            }
        }
    }

    @Test("other JSON names its characters", arguments: Depth.allCases)
    func others(_ depth: Depth) async throws {
        let world = try await World(depth)
        for path in [
            Example.custom + "/keys", "/.well-known/openid-configuration", "/oauth2/nope/v1/token", "/oauth2/v1/tokens",
        ] {
            let answer = try await world.call(.get, path)
            let isToken = path.hasSuffix("/v1/token")
            #expect(
                answer["content-type"] == (isToken ? "application/json" : "application/json;charset=UTF-8"), "\(path)")
            #expect((answer["pragma"] == nil) == !isToken)
        }
    }
}
