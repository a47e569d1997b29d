import Testing
import UnderstudyTesting

/// Five hundred concurrent tests against one process, each with its own users, clock and scenario.
@Suite("Five hundred tests side by side")
struct CrowdTests {
    @Test("none sees another", arguments: 1...500)
    func crowd(_ number: Int) async throws {
        try await withUnderstudy { server in
            let clock = 1_700_000_000 + number * 10_000
            try await server.freezeClock(at: clock)
            try await server.activate("rezolve-token-expires-mid-session")
            let entity = "entity-\(number % 7)"
            try await server.act(
                "rezolve/register-customer", ["partner_entity_id": .init("user-\(number)"), "entity": .init(entity)])
            let path = "/api/v1/partner/317/customer/\(entity)/phonebook"
            for call in 1...3 {
                let token = try await server.mint("rezolve/login", ["customer": .init(entity)])
                let answer = try await server.send(
                    call == 1 ? .post : .get, path,
                    fields: [
                        .authorization: "Bearer \(token)", .init("x-rezolve-partner-apikey")!: Ada.apiKey,
                        .init("x-rezolve-device-id")!: Ada.device,
                    ], body: call == 1 ? #"{"name":"\#(number)","phone":"+15550\#(number)"}"# : "")
                #expect(answer.status.code == [201, 200, 401][call - 1])
                if call == 2 { #expect(answer.json["phones"]?.array?.map { $0["name"]?.string } == ["\(number)"]) }
            }
            let entries = try await server.journal()
            #expect(entries.count == 3)
            #expect(entries.allSatisfy { $0["sandbox"]?.string == server.sandbox })
            #expect(Set(entries.map { $0["at"]?.string }).count == 1)
        }
    }
}
