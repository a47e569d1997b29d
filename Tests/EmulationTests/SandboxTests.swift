import Synchronization
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
        SandboxDirectory(inForce: .nobody, settings: Settings(), limits: SandboxLimits(capacity: capacity))
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
        #expect(try directory.remove("a"))
        #expect(try !directory.remove("a"))
        #expect(directory.sandbox("a") !== first)
        let standard = directory.standard
        standard.arm([try Rules.fault(#"{ route: r, fail: f }"#)])
        _ = standard.adjustClock { $0.freeze() }
        #expect(try directory.remove("default"))
        #expect(directory.standard === standard)
        #expect(standard.faults == [])
        #expect(standard.clock == SandboxClock())
    }

    /// A machine clock that a test advances.
    private final class Machine: Sendable {
        private let moment = Mutex(Moment(unixSeconds: 1_000_000))

        var now: Moment { moment.withLock { $0 } }
        func advance(_ duration: Duration) { moment.withLock { $0 = $0 + duration } }
    }

    private func directory(_ machine: Machine, timeToLive: Duration?) -> SandboxDirectory {
        SandboxDirectory(
            inForce: .nobody, settings: Settings(), limits: SandboxLimits(timeToLive: timeToLive)
        ) { machine.now }
    }

    @Test("a sandbox that lay unused for its time is gone, and the next who names it gets a fresh one")
    func timeToLive() throws {
        let machine = Machine()
        let directory = directory(machine, timeToLive: .seconds(60))
        let first = directory.sandbox("a")
        machine.advance(.seconds(59))
        _ = first.beginExchange(Rules.request)
        machine.advance(.seconds(59))
        #expect(directory.sandbox("a") === first, "counted from the last use")
        first.touch()
        machine.advance(.seconds(60))
        #expect(directory.existing("a") == nil)
        #expect(try !directory.remove("a"))
        let second = directory.sandbox("a")
        #expect(second !== first)
        #expect(second.exchanges == 0)
        #expect(second.created == machine.now)
    }

    @Test("the standard sandbox never expires, and a sandbox's own clock has no say in it")
    func noExpiry() throws {
        let machine = Machine()
        let directory = directory(machine, timeToLive: .seconds(60))
        let standard = directory.standard
        let sandbox = directory.sandbox("a")
        _ = sandbox.adjustClock { $0.advance(by: .seconds(3600)) }
        #expect(directory.sandbox("a") === sandbox)
        machine.advance(.seconds(100_000))
        #expect(directory.sandbox("default") === standard)
        #expect(directory.all.map(\.name) == ["default"])
        #expect(directory.setTimeToLive(.seconds(1), of: "default").timeToLive == nil)
    }

    @Test("a time of its own beats that of all, in both directions, and no time keeps a sandbox")
    func ownTimeToLive() throws {
        let machine = Machine()
        let directory = directory(machine, timeToLive: .seconds(60))
        let long = directory.setTimeToLive(.seconds(600), of: "long")
        let short = directory.setTimeToLive(.milliseconds(1500), of: "short")
        let kept = directory.setTimeToLive(nil, of: "kept")
        _ = directory.sandbox("plain")
        machine.advance(.seconds(1))
        #expect(directory.sandbox("short") === short)
        short.touch()
        machine.advance(.milliseconds(1500))
        #expect(directory.all.map(\.name) == ["default", "kept", "long", "plain"])
        machine.advance(.seconds(60))
        #expect(directory.all.map(\.name) == ["default", "kept", "long"])
        #expect(directory.sandbox("long") === long)
        machine.advance(.seconds(601))
        #expect(directory.all.map(\.name) == ["default", "kept"])
        #expect(directory.sandbox("kept") === kept)
    }

    @Test("what a sweep drops is really let go")
    func sweep() {
        let machine = Machine()
        let directory = directory(machine, timeToLive: .seconds(60))
        weak var dropped: Sandbox?
        dropped = directory.sandbox("a")
        #expect(dropped != nil)
        machine.advance(.seconds(60))
        directory.sweep()
        #expect(dropped == nil)
    }

    @Test("a seed stops a clock that shows the machine's time, and no other")
    func seededClock() {
        let directory = directory(capacity: 9)
        let seed = { (sandbox: Sandbox, seed: UInt64?) in _ = sandbox.adjustSettings { $0.seed = seed } }
        let plain = directory.sandbox("plain")
        seed(plain, 1)
        #expect(plain.now.rfc3339 == "2027-01-15T08:00:00.000Z")
        #expect(plain.clock.isFrozen)
        seed(plain, nil)
        #expect(plain.now == SandboxClock.seededStart, "taking the seed back does not move the clock")
        let frozen = directory.sandbox("frozen")
        _ = frozen.adjustClock { clock in
            clock.freeze()
            clock.set(to: Moment(unixSeconds: 7))
        }
        seed(frozen, 1)
        #expect(frozen.now == Moment(unixSeconds: 7))
        let moved = directory.sandbox("moved")
        let clock = moved.adjustClock { $0.advance(by: .seconds(60)) }
        seed(moved, 1)
        #expect(moved.clock == clock)
    }

    @Test("reset takes back clock, settings, faults, ids and journal")
    func reset() throws {
        var settings = Settings()
        settings.seed = 5
        let directory = SandboxDirectory(inForce: .nobody, settings: settings)
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
        #expect(sandbox.clock == SandboxClock(seed: 5))
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

extension VendorsInForce {
    /// No vendors.
    static let nobody = VendorsInForce(LoadedVendors(vendors: [], fingerprint: ""))
}
