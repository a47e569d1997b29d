import Emulation
import JSON
import Support
import Testing
import Understudy

/// A fixture change exactly between judging a call and running its handler.
@Suite("A call that meets a change of the fixtures")
struct ReloadConsistencyTests {
    @Test("is answered wholly by the later fixtures, once, and its change is not lost", arguments: Depth.allCases)
    func meeting(_ depth: Depth) async throws {
        let (first, second) = (try Notary.fixtures("first"), try Notary.fixtures("second"))
        let emulator = try Emulator(
            fixtures: FixtureStore(layers: [first.path]), loaders: [VendorLoader(Notary.self)])
        let world = try await World(depth, on: Stage(emulator))
        let before = try await world.call(.get, "/notary/motto")
        #expect(before.text == #"{"mottos":["first","first","first"],"visits":1}"#)
        let sandbox = world.sandbox
        Notary.holds.withLock { holds in
            holds[world.name] = {
                #expect(throws: Never.self) { try emulator.reload(FixtureStore(layers: [second.path])) }
                // Something else moves the sandbox's state on before the held call uses it.
                _ = sandbox.vendor(0).export(.whole)
            }
        }
        let held = try await world.call(.get, "/notary/motto", [("x-hold", world.name)])
        #expect(held.text == #"{"mottos":["second","second","second"],"visits":2}"#)
        #expect(held.entry?.id == 2)
        #expect(world.sandbox.exchanges == 2)
    }

    @Test("is answered wholly by the earlier ones where it is the first to come to the state")
    func firstToCome() async throws {
        let (first, second) = (try Notary.fixtures("first"), try Notary.fixtures("second"))
        let emulator = try Emulator(
            fixtures: FixtureStore(layers: [first.path]), loaders: [VendorLoader(Notary.self)])
        let world = try await World(on: Stage(emulator))
        Notary.holds.withLock { holds in
            holds[world.name] = {
                #expect(throws: Never.self) { try emulator.reload(FixtureStore(layers: [second.path])) }
            }
        }
        let held = try await world.call(.get, "/notary/motto", [("x-hold", world.name)])
        #expect(held.text == #"{"mottos":["first","first","first"],"visits":1}"#)
        let next = try await world.call(.get, "/notary/motto")
        #expect(next.text == #"{"mottos":["second","second","second"],"visits":2}"#)
        #expect(try await world.call(.get, "/notary/none").json["motto"] == "second")
    }
}
