import JSON
import Support
import Testing

@Suite("Sandboxes side by side")
struct IsolationTests {
    private static let key = [("x-rezolve-partner-apikey", "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6")]
    private static let book = "/api/v1/partner/317/customer/entity123/phonebook"

    @Test("two hundred at once, the same users and other clocks: none sees another", arguments: Depth.allCases)
    func parallel(_ depth: Depth) async throws {
        let problems = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<200 { group.addTask { try await Self.life(depth, number) } }
            var problems: [String] = []
            for try await problem in group { if let problem { problems.append(problem) } }
            return problems
        }
        #expect(problems == [])
    }

    /// Runs through one sandbox; returns what went wrong.
    private static func life(_ depth: Depth, _ number: Int) async throws -> String? {
        let clock = 1_700_000_000 + number * 10_000
        let world = try await World(depth, at: clock)
        try await world.set(seed: 1)
        if number.isMultiple(of: 2) { try await world.set("rezolve.device-check", "off") }
        if number.isMultiple(of: 5) { try await world.arm("service-unavailable", at: "phonebook.list", call: 2) }
        let token = try await world.mint("rezolve/login")
        let fields = key + [("authorization", "Bearer " + token)]
        let device = fields + [("x-rezolve-device-id", "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a")]
        for phone in 0...number % 4 {
            let answer = try await world.call(.post, book, device, #"{"name":"\#(number)-\#(phone)","phone":"+1555"}"#)
            guard answer.status == 201 else { return "\(number): \(answer.text)" }
        }
        let list = try await world.call(.get, book, device)
        let names = list.json["phones"]?.array?.compactMap { $0["name"]?.string } ?? []
        guard names == ["Home"] + (0...number % 4).map({ "\(number)-\($0)" }) else { return "\(number) sees \(names)" }
        let second = try await world.call(.get, book, fields).failure
        let expected =
            number.isMultiple(of: 5)
            ? "service-unavailable" : number.isMultiple(of: 2) ? nil : "masked-device-mismatch"
        guard second == expected else { return "\(number): \(second ?? "no failure")" }
        try await world.advance("1800s")
        let third = try await world.call(.get, book, device)
        guard third.status == 401, third.entry?.moment.wholeSeconds == clock + 1800 else {
            return "\(number): \(third.status) at \(third.entry?.moment.wholeSeconds ?? 0)"
        }
        let count = world.sandbox.journal.count
        return count == 4 + number % 4 ? nil : "\(number): \(count) entries"
    }

    @Test("calls of many clients at one sandbox are all counted, and ids stay unique")
    func oneSandbox() async throws {
        let world = try await World()
        let ids = try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await world.call(.post, "/v2/credentials/register/guest", Self.key).json["id"]?.int
                }
            }
            return try await group.reduce(into: Set<Int>()) { ids, id in if let id { ids.insert(id) } }
        }
        #expect(ids == Set(1002...1101))
        #expect(world.sandbox.journal.count == 100)
    }

    @Test("a key pair that is being made holds up nobody, and is made once")
    func keyPair() async throws {
        let world = try await World()
        let guest = try await world.call(.post, "/v2/credentials/register/guest", Self.key)
        let entity = try #require(guest.json["sdkEntity"]?.string)
        let token = try await world.mint("rezolve/login", ["customer": .string(entity)])
        let fields =
            Self.key + [
                ("authorization", "Bearer " + token),
                ("x-rezolve-device-id", "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a"),
            ]
        let path = "/api/v1/partner/317/customer/\(entity)/publickey"
        let keys = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 { group.addTask { try await world.call(.get, path, fields).text } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
        #expect(keys.first?.contains("BEGIN PUBLIC KEY") == true)
    }
}
