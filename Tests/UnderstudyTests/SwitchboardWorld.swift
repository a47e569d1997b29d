import Emulation
import JSON
import Support
import Testing
import Understudy
import Wire

/// A sandbox on a separate server with a switchboard.
struct SwitchboardWorld: Sendable {
    let world: World
    let emulator: Emulator
    private let fixtures: TemporaryFolder

    init(
        _ depth: Depth, at clock: Int? = World.exampleMoment, limits: SandboxLimits = SandboxLimits(),
        keeper: StateKeeper? = nil, machine: @escaping @Sendable () -> Moment = { SandboxClock.machine }
    ) async throws {
        fixtures = try Switchboard.fixtures()
        emulator = try Emulator(
            fixtures: FixtureStore(layers: [fixtures.path]), loaders: [VendorLoader(Switchboard.self)],
            sandboxes: limits, machine: machine, keeper: keeper)
        world = try await World(depth, on: Stage(emulator), at: clock)
    }

    /// Starts a session, opens a socket for it, and reads the greeting.
    func open(_ session: String, life: Double = 3600) async throws -> LiveSocket {
        _ = try await world.call(.post, "/switchboard/sessions/\(session)?life=\(life)")
        return try await again(session)
    }

    /// Opens another socket for a session, and reads the greeting.
    func again(_ session: String) async throws -> LiveSocket {
        let socket = try await world.openSocket("/switchboard/sessions/\(session)/socket")
        #expect(await socket.next() == .text("hello \(session), at your service"))
        return socket
    }

    /// Sends a text to sessions; `*` stands for all.
    @discardableResult
    func tell(_ text: String, to sessions: String, and: String = "") async throws -> ReceivedAnswer {
        try await world.call(.post, "/switchboard/tell?to=\(sessions)&text=\(text)&and=\(and)")
    }

    /// The switchboard's state.
    func state() async throws -> JSONObject {
        try await world.control(.get, "state/switchboard").json.object ?? [:]
    }

    /// The entries of handshakes, once the condition holds.
    func handshakes(_ isEnough: ([JournalEntry]) -> Bool) async -> [JournalEntry] {
        let journal = world.sandbox.journal
        return await journal.first(within: .seconds(60)) {
            journal.entries().filter { $0.record.route == "socket" }
        } where: {
            isEnough($0)
        }
    }

    /// Waits until this many sockets are open.
    func sockets(_ count: Int) async -> Bool {
        let sandbox = world.sandbox
        return await sandbox.journal.first(within: .seconds(60)) {
            sandbox.sockets
        } where: {
            $0 == count
        } == count
    }
}
