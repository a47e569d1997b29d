import Testing

@testable import Emulation

@Suite("Sandboxes")
struct SandboxTests {
    @Test(
        "a name has 1 to 63 lower-case letters, digits and hyphens",
        arguments: [
            ("a", true), ("default", true), ("case-7", true), ("0", true), ("-", true),
            (String(repeating: "x", count: 63), true), (String(repeating: "x", count: 64), false), ("", false),
            ("A", false), ("a_b", false), ("a.b", false), ("a b", false), ("ä", false), ("a/b", false), ("a\n", false),
        ])
    func names(_ name: String, _ isValid: Bool) {
        #expect(SandboxName.isValid(name) == isValid)
    }

    private func directory(capacity: Int) -> SandboxDirectory {
        SandboxDirectory(vendors: [], settings: Settings(), capacity: capacity)
    }

    @Test("a sandbox comes into being when it is named and stays the same")
    func creation() {
        let directory = directory(capacity: 10)
        #expect(directory.existing("a") == nil)
        let sandbox = directory.sandbox("a")
        #expect(directory.sandbox("a") === sandbox)
        #expect(directory.existing("a") === sandbox)
        #expect(directory.all.map(\.name) == ["default", "a"])
        #expect(directory.sandbox("default") === directory.standard)
    }

    @Test("at the cap the sandbox that was longest unused makes room, and the standard one never does")
    func cap() {
        let directory = directory(capacity: 3)
        for name in ["a", "b", "c"] { _ = directory.sandbox(name).beginExchange(Rules.request) }
        _ = directory.sandbox("a").beginExchange(Rules.request)
        _ = directory.sandbox("d").beginExchange(Rules.request)
        #expect(directory.all.map(\.name) == ["default", "a", "c", "d"])
        for name in ["e", "f", "g", "h"] { _ = directory.sandbox(name).beginExchange(Rules.request) }
        #expect(directory.all.map(\.name) == ["default", "f", "g", "h"])
    }

    @Test("a sandbox that is removed begins anew; the standard one is reset instead")
    func removal() throws {
        let directory = directory(capacity: 3)
        let first = directory.sandbox("a")
        #expect(directory.remove("a"))
        #expect(!directory.remove("a"))
        #expect(directory.sandbox("a") !== first)
        let standard = directory.standard
        standard.arm([try Rules.fault(#"{ route: r, fail: f }"#)])
        _ = standard.adjustClock { $0.freeze() }
        #expect(directory.remove("default"))
        #expect(directory.standard === standard)
        #expect(standard.faults == [])
        #expect(standard.clock == SandboxClock())
    }

    @Test("reset takes back clock, settings, faults, ids and journal")
    func reset() throws {
        var settings = Settings()
        settings.seed = 5
        let directory = SandboxDirectory(vendors: [], settings: settings)
        let sandbox = directory.sandbox("a")
        let firstID = sandbox.identifiers.uuid()
        var changed = settings
        changed.profile = .observed
        changed.seed = 6
        _ = sandbox.adjustSettings { [changed] in $0 = changed }
        sandbox.arm([try Rules.fault(#"{ route: r, fail: f }"#)])
        _ = sandbox.adjustClock { $0.advance(by: .seconds(60)) }
        sandbox.journal.append(JournalTests.entry("x"))
        sandbox.reset()
        #expect(sandbox.settings == settings)
        #expect(sandbox.faults == [])
        #expect(sandbox.clock.isMachineTime)
        #expect(sandbox.identifiers.uuid() == firstID)
        #expect(sandbox.journal.count == 0)
        #expect(sandbox.journal.append(JournalTests.entry("x")) == 1)
    }

    @Test("ids with a seed are repeatable, other seeds give others, and without one nobody can tell")
    func seeds() {
        let ids = { (seed: UInt64?) in
            let source = IdentifierSource(seed: seed)
            return (0..<4).map { _ in source.uuid() }
        }
        #expect(ids(7) == ids(7))
        #expect(ids(7) != ids(8))
        #expect(ids(nil) != ids(nil))
        let source = IdentifierSource(seed: 7)
        let first = source.uuid()
        source.reseed(7)
        #expect(source.uuid() == first)
    }

    @Test("a seeded id is the same on every platform and in every release")
    func knownIDs() {
        #expect(IdentifierSource(seed: 42).uuid() == "bdd73226-2feb-4e95-a8ef-e333b266f103")
    }

    @Test("ids are version 4 UUIDs in lower case, all different")
    func form() {
        let source = IdentifierSource()
        let ids = (0..<500).map { _ in source.uuid() }
        #expect(Set(ids).count == ids.count)
        for id in ids {
            #expect(id.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        }
    }
}
