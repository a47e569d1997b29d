import JSON
import Support
import Testing

/// Limits on what a looping client, or a refused request, can change.
@Suite("Rezolve's bounds")
struct BoundsTests {
    @Test("a card that is refused draws no id: with a seed, the next one is the same as without the refusal")
    func refusedCard() async throws {
        let card =
            #"{"short_name":"s","pan":"x","pan6":"420000","pan4":"0000","brand":"visa","type":"credit","#
            + #""name_on_card":"n","expires_on":"1030","valid_from":null,"address_id":"#
        var ids: [JSON?] = []
        for refusesFirst in [false, true] {
            let world = try await World()
            try await world.set(seed: 7)
            if refusesFirst {
                let refused = try await world.call(.post, Example.ada + "/wallet", .ada, card + #""none"}"#)
                #expect(refused.failure == "address-not-found")
            }
            let made = try await world.call(.post, Example.ada + "/wallet", .ada, card + #""address-1"}"#)
            #expect(made.status == 201)
            ids.append(made.json["id"])
        }
        #expect(ids[0] == ids[1])
    }

    @Test("a seed that is set again never gives a new customer the id of another")
    func repeatedSeed() async throws {
        let world = try await World()
        var entities: Set<String> = []
        for seed in [7, 8, 7] {
            try await world.set(seed: seed)
            let guest = try await world.call(.post, "/api/v2/authentication/register/guest", .keyN, "{}")
            entities.insert(try #require(guest.json["sdkEntity"]?.string))
        }
        #expect(entities.count == 3)
    }

    @Test("an explanation names the account whose key fits, not the one that the request names")
    func explainedAccount() async throws {
        let world = try await World()
        let token = try await world.mint("rezolve/login")
        let order: JSON = ["token": .string(token), "request": ["partner": "3"]]
        let verdict = try await world.control(.post, "tokens/explain", order.text).json["verdicts"]?[0]
        #expect(verdict?["account"] == "partner 317")
        #expect(verdict?["failure"] == "masked-signature")
        let keyless: JSON = ["token": .string(token), "request": ["partner": "404"]]
        let other = try await world.control(.post, "tokens/explain", keyless.text).json["verdicts"]?[0]
        #expect(other?["failure"] == "masked-no-auth-key")
    }

    @Test("a password in a body that was sent to another route is masked too")
    func neighbouringRoute() async throws {
        let world = try await World()
        let body = #"{"username":"u","password":"not-a-secret-9","email":"x@example.test"}"#
        let answer = try await world.call(.post, "/v1/credentials/forget", .keyN, body)
        #expect(answer.failure == "rua-user-not-found")
        let journal = try await world.control(.get, "journal")
        #expect(!journal.text.contains("not-a-secret-9"))
        #expect(journal.text.contains("x@example.test"))
    }
}
