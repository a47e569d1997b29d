import JSON
import Support
import Testing
import Tokens

/// Rotating and breaking the keys of a server, seen by those who fetch them and by those who bring tokens.
@Suite("Okta's key drills")
struct KeyDrillTests {
    private static func drill(_ name: String, of server: String = "default", in world: World) async throws {
        let answer = try await world.control(.post, "keys/okta/\(server)/\(name)")
        #expect(answer.status == 200, "\(answer.text)")
    }

    private static func published(in world: World, at endpoints: String = Example.custom) async throws -> [JSON] {
        try await world.call(.get, endpoints + "/keys").json["keys"]?.array ?? []
    }

    private static func kids(in world: World) async throws -> [String] {
        try await published(in: world).compactMap { $0["kid"]?.string }
    }

    /// The id of the published key that made a token's signature; `nil` when none did.
    private static func signer(of token: String, in world: World) async throws -> String? {
        let compact = CompactToken(token)
        let keys = try await published(in: world).map { try VerificationKey.jwk($0) }
        return keys.first { compact.signature(by: $0, algorithm: .rs256).outcome == .passed }?.id
    }

    @Test("overlap: the next key signs, the old one stays, and a new next one appears", arguments: Depth.allCases)
    func overlap(_ depth: Depth) async throws {
        let world = try await World(depth)
        let app = AppClient.native(world)
        let before = try await Self.kids(in: world)
        let old = try await app.tokens().member("access_token")
        #expect(try await Self.signer(of: old, in: world) == before[0])
        try await Self.drill("overlap", in: world)
        let after = try await Self.kids(in: world)
        #expect(after.count == 3 && after[0] == before[1] && after[2] == before[0] && !before.contains(after[1]))
        let new = try await app.tokens().member("access_token")
        #expect(try await Self.signer(of: new, in: world) == after[0])
        #expect(try await Self.signer(of: old, in: world) == before[0])
        for token in [old, new] { try await app.userinfo(token).expect(200) }
        try await Self.drill("retire", in: world)
        #expect(try await Self.kids(in: world) == Array(after.prefix(2)))
        try await app.userinfo(new).expect(200)
        let refused = try await app.userinfo(old)
        #expect(refused.status == 401 && refused.failure == "access-token-invalid")
        #expect(
            refused["www-authenticate"]
                == #"Bearer error="invalid_token", error_description="The access token is invalid""#)
        #expect(refused.outcome(of: "key-published") == .failed, "\(refused.findings)")
        #expect(try await Self.published(in: world, at: Example.org).count == 2)
    }

    @Test("overlap again: the key before the last leaves, and what it signed is refused", arguments: Depth.allCases)
    func overlapAgain(_ depth: Depth) async throws {
        let world = try await World(depth)
        let app = AppClient.native(world)
        let before = try await Self.kids(in: world)
        let token = try await app.tokens().member("access_token")
        for _ in 1...3 {
            try await Self.drill("overlap", in: world)
            #expect(try await Self.published(in: world).count == 3)
        }
        #expect(try await !Self.kids(in: world).contains(before[0]))
        let refused = try await app.userinfo(token)
        refused.expect(401, "", "access-token-invalid")
        #expect(refused.why.contains("or it has left since"), "\(refused.why)")
    }

    @Test("replace: the next key signs, and the old one leaves at once")
    func replace() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let before = try await Self.kids(in: world)
        let old = try await app.tokens().member("access_token")
        try await Self.drill("replace", in: world)
        let after = try await Self.kids(in: world)
        #expect(after.count == 2 && after[0] == before[1] && !before.contains(after[1]))
        #expect(try await app.userinfo(old).outcome(of: "key-published") == .failed)
        try await app.userinfo(try await app.tokens().member("access_token")).expect(200)
    }

    @Test("same-kid: new material signs under the old name")
    func sameName() async throws {
        let world = try await World()
        let app = AppClient.native(world)
        let before = try await Self.published(in: world)
        let old = try await app.tokens()
        try await Self.drill("same-kid", in: world)
        let after = try await Self.published(in: world)
        #expect(after.map { $0["kid"] } == before.map { $0["kid"] } && after[0]["n"] != before[0]["n"])
        let new = try await app.tokens()
        #expect(new.read("access_token").header == old.read("access_token").header)
        try await app.userinfo(new.member("access_token")).expect(200)
        let refused = try await app.userinfo(old.member("access_token"))
        #expect(refused.failure == "access-token-invalid" && refused.outcome(of: "signature") == .failed)
    }

    @Test("break and repair: the keys answer 500 in between, while tokens are issued", arguments: Depth.allCases)
    func broken(_ depth: Depth) async throws {
        let world = try await World(depth)
        let before = try await Self.kids(in: world)
        try await Self.drill("break", in: world)
        let answer = try await world.call(.get, Example.custom + "/keys")
        let id = try #require(answer.json["errorId"]?.string)
        answer.expect(
            500,
            #"{"errorCode":"E0000009","errorSummary":"Internal Server Error","errorLink":"E0000009","#
                + #""errorId":"\#(id)","errorCauses":[]}"#, "internal-error")
        #expect(
            answer.entry?.explanation
                == "the drill break has these keys answer 500; expected the drill repair before they are read")
        let app = AppClient.native(world)
        try await app.userinfo(try await app.tokens().member("access_token")).expect(200)
        #expect(try await Self.published(in: world, at: Example.org).count == 2)
        try await Self.drill("repair", in: world)
        #expect(try await Self.kids(in: world) == before)
    }

    @Test("every new key is named by its thumbprint, also when no spare pair is left")
    func names() async throws {
        let world = try await World()
        var seen: Set<String> = []
        for _ in 1...4 {
            try await Self.drill("replace", of: "org", in: world)
            for key in try await Self.published(in: world, at: Example.org) {
                let thumbprint = try VerificationKey.jwk(key).thumbprint
                #expect(key["kid"]?.string == thumbprint)
                seen.insert(thumbprint ?? "")
            }
        }
        // The two of the beginning were replaced by the first; two spare pairs and two new ones came.
        #expect(seen.count == 5)
    }

    @Test("a scenario can drill with the spare pairs, and no other")
    func action() async throws {
        let world = try await World()
        let order = #"{"issuer":"default","drill":"overlap"}"#
        for _ in 1...2 { try await world.control(.post, "state/okta/drill-keys", order).expect(200) }
        let third = try await world.control(.post, "state/okta/drill-keys", order)
        #expect(third.status == 400)
        #expect(
            third.text.contains("default has no spare pair; the call keys/okta/default/overlap waits"), "\(third.text)")
        let unknown = try await world.control(.post, "state/okta/drill-keys", #"{"issuer":"defalt","drill":"retire"}"#)
        #expect(unknown.text.contains("no authorization server is called defalt; did you mean"), "\(unknown.text)")
    }
}
