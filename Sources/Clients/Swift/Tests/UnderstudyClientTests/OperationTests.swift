import Testing
import UnderstudyClient

@Suite("Operations")
struct OperationTests {
    typealias Call = @Sendable (Control) async throws -> any Sendable

    /// Each operation once, by its id, with all its query parameters.
    static let calls: [String: Call] = [
        "health": { try await $0.health() },
        "health.live": { try await $0.healthLive() },
        "health.ready": { try await $0.healthReady() },
        "openapi": { try await $0.openapi() },
        "metrics": { try await $0.metrics() },
        "vendors.list": { try await $0.vendorsList() },
        "vendors.sample": { try await $0.vendorsSample(vendor: "rezolve") },
        "journal.list": {
            try await $0.journalList(
                vendor: "rezolve", route: "rua.*", status: "4xx", failure: "token-expired", since: "5m", after: 0,
                unmatched: false, refused: true, kind: .incoming, last: 3, format: .brief, wait: "1ms", count: 1
            ).decoded(as: Control.BriefJournal.self)
        },
        "journal.clear": { try await $0.journalClear() },
        "journal.get": { try await $0.journalGet(id: 1, format: .brief).decoded(as: Control.BriefEntry.self) },
        "journal.verify": {
            try await $0.journalVerify(.init(atLeast: 1, where: ["route": "addressbook.list"]), wait: "1ms")
                .decoded(as: Control.Fulfilled.self)
        },
        "clock.get": { try await $0.clockGet() },
        "clock.set": { try await $0.clockSet(.init(advance: "1s")) },
        "clock.clear": { try await $0.clockClear() },
        "settings.get": { try await $0.settingsGet() },
        "settings.set": { try await $0.settingsSet(.init(switches: ["rezolve.device-check": "off"])) },
        "tokens.kinds": { try await $0.tokensKinds() },
        "tokens.explain": { try await $0.tokensExplain(.init(token: "a.b.c")) },
        "tokens.mint": { try await $0.tokensMint(vendor: "rezolve", kind: "login") },
        "faults.list": { try await $0.faultsList() },
        "faults.set": {
            _ = try await $0.faultsSet(
                .init(route: "addressbook.list", when: .init(method: "GET"), fail: "token-expired"))
            _ = try await $0.faultsSet(["faults": []])
            return try await $0.faultsSet(
                .init(faults: [.init(vendor: "rezolve", every: 2, fault: ["delay": "2s"])]))
        },
        "faults.clear": { try await $0.faultsClear() },
        "scenarios.list": { try await $0.scenariosList(rules: true) },
        "scenarios.set": {
            _ = try await $0.scenariosSet(.init(scenario: "rezolve-busy-backend"))
            return try await $0.scenariosSet(.init(scenarios: [["scenario": "rezolve-busy-backend"]]))
        },
        "scenarios.clear": { try await $0.scenariosClear() },
        "actions.list": { try await $0.actionsList() },
        "state.act": {
            try await $0.stateAct(vendor: "rezolve", action: "register-customer", ["partner_entity_id": "user-9"])
        },
        "state.get": { try await $0.stateGet(vendor: "rezolve") },
        "state.set": { try await $0.stateSet(vendor: "rezolve", $0.stateGet(vendor: "rezolve")) },
        "keys.list": { try await $0.keysList() },
        "keys.drill": { try await $0.keysDrill(vendor: "ims", issuer: "rotating", drill: .sameKid) },
        "sandboxes.list": { try await $0.sandboxesList(replicas: .all) },
        "sandboxes.set": { try await $0.sandboxesSet(name: "called", .init(ttl: "10m")) },
        "sandboxes.delete": {
            _ = try await $0.sandboxesSet(name: "deleted", .init(ttl: "10m"))
            return try await $0.sandboxesDelete(name: "deleted")
        },
        "reset": { try await $0.reset() },
    ]

    @Test("The table has each operation of the server's document, and no other")
    func isComplete() async throws {
        let document = try await Suite.server.value.control.openapi()
        let found = document.paths.values.flatMap { ($0.object ?? [:]).values }.compactMap { $0["operationId"]?.string }
        #expect(found.sorted() == Self.calls.keys.sorted())
        #expect(found.count > 30)
    }

    @Test("The server takes each call, and its answer is read", arguments: calls.keys.sorted())
    func answer(of operation: String) async throws {
        let call = try #require(Self.calls[operation])
        try await Suite.inSandbox { sandbox in
            #expect(try await sandbox.call() == 403)
            _ = try await call(sandbox.control)
        }
    }

    @Test("What a name holds stays in its place of the path")
    func escaping() async throws {
        try await Suite.inSandbox { sandbox in
            let refusal = try await error(Refusal.self) {
                try await sandbox.control.vendorsSample(vendor: "a/b c?d%é")
            }
            #expect(refusal.call == "GET vendors/a%2Fb%20c%3Fd%25%C3%A9/sample" && refusal.status == 404)
            #expect(refusal.message.contains("a/b c?d%é"))
            _ = try await sandbox.call("GET", "/nowhere")
            #expect(try await sandbox.control.journalList(since: "2020-01-01T00:00:00+01:00")["entries"]?[0] != nil)
        }
    }
}
