import Emulation
import JSON
import Support
import Testing
import Understudy

/// State exported from a sandbox as JSON and imported again.
@Suite("Bloomreach's state, exported and imported")
struct ExportTests {
    @Test("put into another sandbox, the numbers of customers count on behind those that were given out")
    func numbers() async throws {
        let (world, other) = (try await World(), try await World())
        try await BloomreachLife.live(world)
        let exported = try await world.control(.get, "state/bloomreach").text
        #expect(try await other.control(.put, "state/bloomreach", exported).status == 200)
        let made = try await other.control(.post, "state/bloomreach/identify-customer", #"{"customer":"x"}"#)
        #expect(made.text.contains(#""customer":5"#), "\(made.text)")
    }

    @Test("an empty state is one, and reset brings the customers of the fixtures back")
    func empty() async throws {
        let world = try await World()
        #expect(try await world.control(.put, "state/bloomreach", #"{"projects":[]}"#).status == 200)
        #expect(try await world.customer(#""ana@example.test""#).status != 200)
        try await world.control(.post, "reset")
        #expect(try await world.customer(#""ana@example.test""#).status == 200)
    }

    @Test("a customer of the fixtures that was given another number has it after a restart too")
    func otherNumber() async throws {
        let first = try Stage(Emulator(fixtures: Repository.fixtures))
        let world = try await World(on: first)
        let exported = try await world.control(.get, "state/bloomreach").text
        #expect(exported.contains(#""number":1,"#))
        let put = try await world.control(
            .put, "state/bloomreach", exported.replacing(#""number":1,"#, with: #""number":77,"#))
        #expect(put.status == 200)
        let again = world.moved(to: try first.restarted())
        #expect(try await again.control(.get, "state/bloomreach").text == put.text)
    }

    @Test("what nobody touched follows the fixtures of the new start")
    func otherFixtures() async throws {
        let first = try Stage(Emulator(fixtures: Repository.fixtures))
        let world = try await World(on: first)
        try await world.call(.post, Example.customers, .token, Example.body(#"{"registered":"new@example.test"}"#))
            .expect(200)
        let fixtures = try OwnFixtures()
        try fixtures.put("bloomreach/accounts.yaml", [("first_name: \"Ana\"", "first_name: \"Anna\"")])
        let again = world.moved(to: try first.restarted(fixtures.store))
        #expect(try await again.customer(Example.ana).json["properties"] == ["first_name": "Anna"])
        #expect(try await again.customer(#""new@example.test""#).json["number"] == 4)
    }
}
