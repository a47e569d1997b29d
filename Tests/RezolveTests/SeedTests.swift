import JSON
import Support
import Testing

/// What a seed does not affect.
@Suite("Rezolve under a seed")
struct SeedTests {
    @Test("what OpenSSL draws by itself is excepted: a key pair that is made has no seed")
    func keyPairs() async throws {
        var (entities, keys): (Set<String>, Set<String>) = ([], [])
        for _ in 0..<2 {
            let world = try await World(at: nil)
            try await world.set(seed: 42)
            let guest = try await world.call(.post, "/v2/credentials/register/guest", .keyN)
            let entity = try #require(guest.json["sdkEntity"]?.string)
            let token = try await world.mint("rezolve/login", ["customer": .string(entity)])
            let fields = World.Fields.keyN.bearer(token).device(Example.device)
            let key = try await world.call(.get, "/api/v1/partner/317/customer/\(entity)/publickey", fields)
            key.expect(200)
            entities.insert(entity)
            keys.insert(key.text)
        }
        #expect(entities.count == 1)
        #expect(keys.count == 2)
    }
}
