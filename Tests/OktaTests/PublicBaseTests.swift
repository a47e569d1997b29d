import Emulation
import Expectations
import JSON
import Support
import Testing

@testable import Understudy

/// The setting `public_base`: which address issuers and links name.
@Suite("The public base of a sandbox") struct PublicBaseTests {
    private static let discovery = "/oauth2/default/.well-known/openid-configuration"

    private func issuer(_ world: World, _ host: String) async throws -> JSON? {
        try await world.call(.get, Self.discovery, [("host", host)]).json["issuer"]
    }

    private func mint(_ world: World, _ host: String) async throws -> String {
        let minted = try await world.control(.post, "tokens/okta/access", fields: [("host", host)])
        expect(minted.json["claims"]?["iss"], is: .string("http://\(host)/oauth2/default"), minted.text)
        return minted.json["token"]?.string ?? ""
    }

    private func userinfo(_ world: World, _ token: String, _ host: String) async throws -> ReceivedAnswer {
        try await world.call(
            .get, "/oauth2/default/v1/userinfo", [("host", host), ("authorization", "Bearer \(token)")])
    }

    @Test("can be set and taken back at run time, for one sandbox, until its reset") func setting() async throws {
        let (world, other) = (try await World(), try await World())
        let standard = "http://localhost:8080"
        expect(try await world.control(.get, "settings").json["public_base"], is: .string(standard))
        let set = try await world.control(.put, "settings", #"{"public_base":"https://mocks.example.test:8443"}"#)
        expect(set.json["public_base"], is: "https://mocks.example.test:8443")
        expect(try await issuer(world, "x"), is: "https://mocks.example.test:8443/oauth2/default")
        let path = try await world.bare(.get, "/~\(world.name)\(Self.discovery)")
        expect(
            path.json["token_endpoint"],
            is: .string("https://mocks.example.test:8443/~\(world.name)/oauth2/default/v1/token"))
        expect(try await issuer(other, "x"), is: .string(standard + "/oauth2/default"))
        let back = try await world.control(.put, "settings", #"{"public_base":null}"#)
        expect(back.json["public_base"], is: .string(standard))
        try await world.control(.put, "settings", #"{"public_base":"from-host"}"#)
        expect(try await issuer(world, "x:1"), is: "http://x:1/oauth2/default")
        try await world.control(.post, "reset")
        expect(try await issuer(world, "x:1"), is: .string(standard + "/oauth2/default"))
    }

    @Test(
        "is refused when it is no address, and stays",
        arguments: [
            "7", #""mocks.example.test""#, #""http://x:99999""#, #""http://x/""#, #""ftp://x""#, #""from-hosts""#,
            #""""#,
        ])
    func wrong(_ value: String) async throws {
        let world = try await World()
        let refused = try await world.control(.put, "settings", "{\"public_base\":\(value)}")
        expect(refused.status, is: 400)
        expect(
            refused.json["error"]?["message"]?.string,
            is:
                "public_base is \(value); expected scheme, host and port such as “https://mocks.example.test:8443” without "
                + "a slash at the end, “from-host”, or null")
        expect(try await world.control(.get, "settings").json["public_base"], is: "http://localhost:8080")
    }

    @Test(
        "from-host is the request's own address, where control calls would accept the host",
        arguments: [
            ("10.0.2.2:8080", true), ("localhost:9", true), ("[::1]:9", true), ("mocks", true), ("Backend:80", true),
            ("mocks.example.test", false), ("evil.example:8080", false),
        ])
    func hosts(_ example: (host: String, isTaken: Bool)) async throws {
        let world = try await World()
        try await world.control(.put, "settings", #"{"public_base":"from-host"}"#)
        let base = example.isTaken ? "http://\(example.host)" : "http://localhost:8080"
        expect(try await issuer(world, example.host), is: .string(base + "/oauth2/default"))
        let path = try await world.bare(.get, "/~\(world.name)\(Self.discovery)", [("host", example.host)])
        expect(path.json["issuer"], is: .string("\(base)/~\(world.name)/oauth2/default"))
        let noted = try await world.call(.get, Self.discovery, [("host", example.host)])
        expect(noted.findings.contains { $0.check == "public-base" }, is: !example.isTaken)
    }

    @Test("from-host in the form NAME.localhost keeps the request's port") func hostForm() async throws {
        let world = try await World()
        try await world.control(.put, "settings", #"{"public_base":"from-host"}"#)
        let answer = try await world.bare(.get, Self.discovery, [("host", "\(world.name).localhost:49213")])
        expect(answer.json["issuer"], is: .string("http://\(world.name).localhost:49213/oauth2/default"))
    }

    @Test("with from-host a token that was issued at one name is good at another, and at no name that was never asked")
    func names() async throws {
        let world = try await World()
        try await world.control(.put, "settings", #"{"public_base":"from-host"}"#)
        let token = try await mint(world, "10.0.2.2:8080")
        expect(try await userinfo(world, token, "10.0.2.2:8080").status, is: 200)
        expect(try await userinfo(world, token, "localhost:8080").status, is: 200)
        let elsewhere = try await World()
        let foreign = try await userinfo(elsewhere, token, "localhost:8080")
        expect(foreign.status, is: 401)
        expect(foreign.outcome(of: "issuer"), is: .failed, "\(foreign.findings)")
        let signed = try await world.control(
            .post, "tokens/okta/access", #"{"claims":{"iss":"http://never:8080/oauth2/default"}}"#)
        let never = try await userinfo(world, signed.json["token"]?.string ?? "", "localhost:8080")
        expect(never.status, is: 401)
        expect(never.outcome(of: "issuer"), is: .failed, "\(never.findings)")
    }

    @Test("with from-host another vendor's issuer {base} has each of the names too") func otherVendor() async throws {
        let world = try await World(at: nil)
        try await world.control(.put, "settings", #"{"public_base":"from-host"}"#)
        try await world.control(.put, "scenarios", #"{"scenario":"ims-user-of-another-issuer"}"#)
        let token = try await mint(world, "10.0.2.2:8080")
        let answer = try await world.call(
            .get, "/ims/v1/me", [("host", "localhost:8080"), ("authorization", "Bearer \(token)")])
        expect(answer.status, is: 200, "\(answer.findings)")
    }

    @Test("the names outlive a restart with the sandbox, as the setting does", arguments: StoreEngine.allCases)
    func kept(_ engine: StoreEngine) async throws {
        let world = try await World(on: try Stage(keeping: StoreHome(engine)), at: nil)
        try await world.control(.put, "settings", #"{"public_base":"from-host"}"#)
        let token = try await mint(world, "10.0.2.2:8080")
        let next = world.moved(to: try world.stage.restarted())
        expect(try await next.control(.get, "settings").json["public_base"], is: "from-host")
        expect(try await userinfo(next, token, "localhost:8080").status, is: 200)
    }

    @Test("a server can begin with it, and a sandbox can differ") func server() async throws {
        let stage = try Stage(Emulator(fixtures: Repository.fixtures, publicBase: PublicBase("from-host")))
        let world = try await World(on: stage)
        expect(try await issuer(world, "10.0.2.2:1"), is: "http://10.0.2.2:1/oauth2/default")
        expect(try await world.control(.get, "settings").json["public_base"], is: "from-host")
        try await world.control(.put, "settings", #"{"public_base":"http://backend:8080"}"#)
        expect(try await issuer(world, "10.0.2.2:1"), is: "http://backend:8080/oauth2/default")
        try await world.control(.put, "settings", #"{"public_base":null}"#)
        expect(try await issuer(world, "10.0.2.2:1"), is: "http://10.0.2.2:1/oauth2/default")
        let sample = try await world.named("nobody-yet").control(
            .get, "vendors/okta/sample", fields: [("host", "10.0.2.2:1")])
        expect(sample.json["sample"]?["url"], is: "http://10.0.2.2:1/oauth2/default/v1/userinfo")
    }

    @Test("sixteen names are remembered, the latest ones") func bound() async throws {
        let world = try await World()
        try await world.control(.put, "settings", #"{"public_base":"from-host"}"#)
        for port in 1...20 { _ = try await issuer(world, "10.0.2.2:\(port)") }
        let bases = world.sandbox.identity.publicBase.addresses(of: world.name)
        #expect(!bases.contains("http://10.0.2.2:4") && bases.contains("http://10.0.2.2:5"))
        #expect(bases.contains("http://10.0.2.2:20/~\(world.name)"))
    }
}
