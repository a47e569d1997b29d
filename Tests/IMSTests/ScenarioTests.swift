import Expectations
import JSON
import Support
import Testing

@Suite("IMS's scenarios and actions") struct ScenarioTests {
    @Test("keys that nobody can fetch: each failure has its reason, and old keys serve on") func outage() async throws {
        let world = try await World()
        try await world.me(Forged(.rotating)).expect(200)
        try await world.control(.put, "scenarios", #"{"scenario":"ims-keys-unreachable"}"#).expect(200)
        try await world.advance("601s")
        let stale = try await world.me(Forged(.rotating, at: 1_800_000_601))
        stale.expect(200)
        expect(stale.outcome(of: "keys-fetched"), is: .noted)
        let other = try await world.me(Forged(.cognito, at: 1_800_000_601))
        other.expectRefusal(503, "keys-unavailable")
        let finding = other.findings.first { $0.check == "keys-fetched" }
        expect(finding?.found?.description.contains("503"), is: true, "\(other.findings)")
    }

    @Test("a trip whose answer was lost is stored once, however often the app sends it") func late() async throws {
        let world = try await World()
        try await world.control(.put, "scenarios", #"{"scenario":"ims-trips-arrive-late"}"#).expect(200)
        func upload() async throws -> ReceivedAnswer {
            try await world.call(.post, "/ims/v1/trips", .ada, Example.trip)
        }
        expect(try await upload().entry?.response.transmission.fault, is: .empty)
        try await upload().expectRefusal(503, "service-unavailable")
        try await upload().expect(200, Example.tripAnswer)
    }

    /// An action, its members, and the outcome for a token with that sub.
    private static let actions: [(String, String, String, String?)] = [
        ("enroll-user", #"{"email":"dora@example.test","enterprise_id":"EMP-5","activate":true}"#, "EMP-5", nil),
        ("enroll-user", #"{"email":"dora@example.test","enterprise_id":"EMP-5"}"#, "EMP-5", "user-not-active"),
        ("activate-user", #"{"user":"usr-2"}"#, "EMP-0002", nil),
        ("activate-user", #"{"user":"EMP-0003","tenant":"demo"}"#, "EMP-0003", nil),
        ("deactivate-user", #"{"user":"usr-1"}"#, "EMP-0001", "user-deactivated"),
        ("drill-keys", #"{"issuer":"uat","drill":"retire"}"#, "EMP-0001", nil),
    ]

    @Test("each action does what it says", arguments: actions)
    func action(_ name: String, _ members: String, _ subject: String, _ failure: String?) async throws {
        let world = try await World()
        try await world.control(.post, "state/ims/" + name, members).expect(200)
        expect(try await world.me(Forged(.uat, [("sub", .string(subject))])).failure, is: failure)
    }

    @Test("no action is without a case") func coverage() async throws {
        let ims = try #require(try await World().emulator.vendors.first { $0.identity.id == "ims" })
        expect(Set(Self.actions.map(\.0)), is: Set(ims.actions.map(\.name)))
    }

    @Test(
        "an action that makes no sense is refused, and changes nothing",
        arguments: [
            ("enroll-user", #"{"email":"ada@example.test","activation_id":"x"}"#, "has the same email"),
            ("enroll-user", #"{"email":"nobody"}"#, "expected an address with @"),
            ("enroll-user", #"{"email":"dora@example.test","tenant":""}"#, "tenant"),
            ("enroll-user", #"{"email":"a@b.test","activate":true}"#, "needs an enterprise_id"),
            ("activate-user", #"{"user":"usr-4"}"#, "has no enterprise id"),
            ("activate-user", #"{"user":"usr-1"}"#, "is already active"),
            ("deactivate-user", #"{"user":"usr-33"}"#, "did you mean “usr-3”?"),
            ("drill-keys", #"{"issuer":"rotatin","drill":"break"}"#, "did you mean “rotating”?"),
            ("drill-keys", #"{"issuer":"rotating","drill":"brake"}"#, "did you mean “break”?"),
            ("drill-keys", #"{"issuer":"uat","drill":"overlap"}"#, "has no spare pair"),
        ])
    func refusedAction(_ name: String, _ members: String, _ complaint: String) async throws {
        let world = try await World()
        let before = try await world.control(.get, "state/ims").text
        let answer = try await world.control(.post, "state/ims/" + name, members)
        expect(answer.status, is: 400)
        expect(answer.json["error"]?["message"]?.string?.contains(complaint), is: true, "\(answer.text)")
        expect(try await world.control(.get, "state/ims").text, is: before)
    }

    /// The key URL's answer and the reason in the journal.
    private static let answers: [(JSON, String)] = [
        (["respond": ["status": 302, "headers": ["Location": "https://example.com/"]]], "redirects are not followed"),
        (["respond": ["status": 404]], "status 404; expected 200"), (["respond": ["body": "<html>"]], "is not JSON"),
        (["respond": ["body": []]], "array “keys”"), (["respond": ["body": ["keys": []]]], "no key"),
        (["respond": ["body": .string(String(repeating: " ", count: 300_000))]], "has more than 262144 bytes"),
        (["fault": "reset"], "connection"), (["fault": "garbage"], "not HTTP"),
    ]

    @Test("keys that cannot be had are one failure, and the journal tells why", arguments: answers)
    func reasons(_ effect: JSON, _ reason: String) async throws {
        let world = try await World()
        var fault: JSONObject = ["route": "dev-issuer.jwks"]
        for member in effect.object ?? [:] { fault[member.name] = member.value }
        try await world.control(.put, "faults", JSON.object(fault).text).expect(200)
        let answer = try await world.me(Forged(.rotating))
        answer.expectRefusal(503, "keys-unavailable")
        let found = try #require(answer.findings.first { $0.check == "keys-fetched" }?.found)
        #expect(found.description.contains(reason), "\(found)")
    }
}

extension ScenarioPlay {
    private static func me(_ world: World, _ token: String) async throws -> ReceivedAnswer { try await world.me(token) }

    static let all = [
        ScenarioPlay(
            "ims-keys-rotate-mid-session", calls: 5, signIn: { try await $0.mint("ims/user", ["issuer": "rotating"]) },
            call: me),
        ScenarioPlay(
            "ims-keys-unreachable", ending: "keys-unavailable",
            signIn: { try await $0.mint("ims/user", ["issuer": "rotating"]) }, call: me),
        ScenarioPlay("ims-trips-arrive-late", signIn: { try await $0.mint("ims/user") }) {
            try await $0.call(.post, "/ims/v1/trips", .bearer($1), Example.trip)
        },
        ScenarioPlay(
            "ims-user-deactivated-mid-session", calls: 4, ending: "user-deactivated",
            signIn: { try await $0.mint("ims/user") }, call: me),
        ScenarioPlay("ims-user-of-another-issuer", signIn: { try await $0.mint("okta/access") }, call: me),
    ]
}
