import Emulation
import Expectations
import JSON
import Support
import Testing
import Understudy
import Wire

/// Deleted sandboxes are freed from memory, whatever happened in them.
@Suite("Memory comes back", .timeLimit(.minutes(15))) struct MemoryTests {
    enum Departure: CaseIterable, Sendable {
        case deletion, timeToLive, newcomers

        func happen(to world: World, _ machine: MachineClock) async throws {
            switch self {
            case .deletion: try await world.control(.delete, "sandboxes/\(world.name)")
            case .timeToLive:
                try await world.control(.put, "sandboxes/\(world.name)", #"{"ttl":"60s"}"#)
                let deadline = ContinuousClock.now + .seconds(300)
                repeat {
                    // Repeat while a client that is just finishing still keeps it.
                    machine.advance(.seconds(3600))
                    // Listing removes expired sandboxes.
                    _ = world.emulator.sandboxes.all
                    await Task.yield()
                } while world.emulator.sandboxes.existing(world.name) != nil && ContinuousClock.now < deadline
            case .newcomers:
                for number in 0...world.emulator.sandboxes.capacity {
                    machine.advance(.seconds(1))
                    _ = world.emulator.sandboxes.sandbox("newcomer-\(number)")
                }
            }
        }

        func rest(_ emulator: Emulator) -> Int { self == .newcomers ? emulator.sandboxes.count : 1 }
    }

    struct Holdings: Equatable {
        var sandboxes: Int
        var journalBytes = 0
        var journalEntries = 0

        init(sandboxes: Int) { self.sandboxes = sandboxes }

        init(_ emulator: Emulator) {
            sandboxes = emulator.sandboxes.countInMemory
            journalBytes = emulator.sandboxes.journalBytes
            journalEntries = emulator.sandboxes.journalEntries
        }
    }

    /// What is in memory, once only this many sandboxes are left or when the deadline has passed.
    private func holdings(_ emulator: Emulator, expecting sandboxes: Int) async -> Holdings {
        let deadline = ContinuousClock.now + .seconds(300)
        while Holdings(emulator) != Holdings(sandboxes: sandboxes), ContinuousClock.now < deadline {
            // Tasks that still use a sandbox need the threads.
            await Task.yield()
        }
        return Holdings(emulator)
    }

    // MARK: - Every vendor

    @Test("after the contract cases of every vendor, with and without a socket in turn") func contracts() async throws {
        let emulator = try Emulator(fixtures: Repository.fixtures)
        let stage = try Stage(emulator)
        var entries = 0
        for (number, file) in ContractFile.all.enumerated() {
            _ = try await ContractRun(file, Depth.allCases[number % 2], on: stage)
            entries += emulator.sandboxes.journalEntries
            for sandbox in emulator.sandboxes.all { _ = try emulator.sandboxes.remove(sandbox.name) }
        }
        #expect(entries > 0)
        expect(await holdings(emulator, expecting: 1), is: Holdings(sandboxes: 1))
    }

    // MARK: - Every feature

    /// An activity in a sandbox before its removal, and what must be kept until then.
    struct Feature: Sendable, CustomStringConvertible {
        let description: String
        /// - Returns: what stays open while the sandbox is removed.
        let happen: @Sendable (SwitchboardWorld) async throws -> [any Sendable]
    }

    static let features: [Feature] = [
        Feature(description: "calls and refusals") { board in
            try await board.tell("x", to: "ada")
            try await board.tell("x", to: "ada", and: "refuse")
            _ = try await board.world.call(.get, "/switchboard/none")
            return []
        },
        Feature(description: "open sockets") { board in [try await board.open("ada"), try await board.again("ada")] },
        Feature(description: "sockets that were closed") { board in
            let socket = try await board.open("ada")
            socket.send(.text("echo"))
            _ = await socket.next()
            socket.close()
            #expect(await board.sockets(0))
            return []
        },
        Feature(description: "a handshake that nobody follows up") { board in
            _ = try await board.world.call(.post, "/switchboard/sessions/ada")
            try await board.world.arm(#"{"vendor":"switchboard","route":"socket","times":"always","fault":"empty"}"#)
            let handshake = [
                ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
                ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ]
            // Over a socket the client gets no answer.
            _ = try? await board.world.call(.get, "/switchboard/sessions/ada/socket", handshake)
            return []
        },
        Feature(description: "long polls that wait") { board in
            let world = board.world
            let polls = [
                Task { _ = try await world.control(.get, "journal?wait=\(patience)&count=1000") },
                Task { _ = try await world.control(.post, "journal/verify?wait=\(patience)", #"{"at_least":1000}"#) },
            ]
            // A poll that starts after the removal would create the sandbox again.
            let deadline = ContinuousClock.now + .seconds(300)
            while world.sandbox.journal.waiterCount < polls.count, ContinuousClock.now < deadline { await Task.yield() }
            expect(world.sandbox.journal.waiterCount, is: polls.count)
            // The polls wait for one change more than will happen.
            try await board.tell("x", to: "ada")
            return polls
        },
        Feature(description: "deadlines that are armed") { board in
            _ = try await board.world.call(.post, "/switchboard/sessions/ada?life=1e9")
            _ = try await board.world.call(.post, "/switchboard/sessions/bob?life=3600")
            return []
        },
        Feature(description: "delays, faults and actions") { board in
            try await board.world.arm(
                #"{"faults":[{"vendor":"switchboard","route":"tell","fault":{"delay":"20ms"}},{"vendor":"switchboard","route":"count","fail":"refused"}]}"#
            )
            try await board.tell("x", to: "ada")
            _ = try await board.world.call(.post, "/switchboard/count")
            try await board.world.control(.post, "state/switchboard/forget", "{}")
            return []
        },
        Feature(description: "an answer that was waited for") { board in
            try await board.tell("x", to: "ada", and: "wait")
            return []
        },
        Feature(description: "an export and an import") { board in
            let state = try await board.world.control(.get, "state/switchboard")
            try await board.world.control(.put, "state/switchboard", state.text)
            return []
        },
        Feature(description: "settings, a seed and another clock") { board in
            try await board.world.set(seed: 7)
            try await board.world.advance("2h")
            return []
        },
    ]

    /// How long a poll waits. Only a deletion ends one early: the connection does not show whether a client
    /// has gone or is still listening.
    @TaskLocal private static var patience = "60s"

    @Test("after every feature, however the sandbox goes", arguments: Departure.allCases, features)
    func feature(_ departure: Departure, _ feature: Feature) async throws {
        for depth in Depth.allCases {
            let machine = MachineClock()
            let limits = SandboxLimits(capacity: 20, timeToLive: nil)
            let board = try await SwitchboardWorld(depth, limits: limits) { machine.now }
            var kept = try await Self.$patience.withValue(departure == .deletion ? "60s" : "2s") {
                try await feature.happen(board)
            }
            if departure != .deletion {
                // An open socket keeps its sandbox, and so does a waiting request.
                for case let socket as LiveSocket in kept { socket.close() }
                #expect(await board.sockets(0))
                for case let poll as Task<Void, any Error> in kept {
                    poll.cancel()
                    _ = await poll.result
                }
            }
            try await departure.happen(to: board.world, machine)
            // In memory the client's end retains the server's, as the engine does until the connection ends.
            if depth == .pipeline { kept = [] }
            let rest = departure.rest(board.emulator)
            let found = await holdings(board.emulator, expecting: rest)
            expect(found, is: Holdings(sandboxes: rest), "\(depth)")
            withExtendedLifetime(kept) {}
        }
    }

    @Test("after a reset nothing is kept but the sandbox itself", arguments: Depth.allCases)
    func reset(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        for feature in Self.features {
            let kept = try await feature.happen(board)
            try await board.world.control(.post, "reset")
            // The clients' ends still exist.
            withExtendedLifetime(kept) {}
            #expect(await board.sockets(0))
        }
        // The log may still note a socket's end, but has no entries any more.
        expect(await holdings(board.emulator, expecting: 2), is: Holdings(sandboxes: 2))
    }

    @Test("while keys are asked for", arguments: Depth.allCases) func keys(_ depth: Depth) async throws {
        let folder = try Subscriber.fixtures(["own": "{self}/notary/plain/jwks"])
        let emulator = try Emulator(
            fixtures: FixtureStore(layers: [folder.path]),
            loaders: [VendorLoader(Notary.self), VendorLoader(Subscriber.self)])
        let world = try await World(depth, on: Stage(emulator))
        try await world.arm(#"{"vendor":"notary","route":"jwks","times":"always","fault":{"delay":"1s"}}"#)
        let token = try await world.mint("notary/seal")
        let readers = (0..<3).map { _ in
            Task { try await world.call(.get, "/subscriber/own", [("authorization", "Bearer " + token)]).status }
        }
        // The first entry is the request for keys, whose answer is then on its way.
        _ = await world.sandbox.journal.first(within: .seconds(60), { world.sandbox.journal.count }, where: { $0 > 0 })
        try await world.control(.delete, "sandboxes/\(world.name)")
        for reader in readers { expect(try await reader.value, is: 200) }
        // Looking up the entry's origin has named the sandbox again.
        try await world.control(.delete, "sandboxes/\(world.name)")
        expect(await holdings(emulator, expecting: 1), is: Holdings(sandboxes: 1))
    }

    // MARK: - Reloads

    @Test("after reloads no more than two editions are kept, used or not", arguments: Depth.allCases)
    func reloads(_ depth: Depth) async throws {
        let board = try await SwitchboardWorld(depth)
        let mark = "memory \(depth)"
        var sockets: [LiveSocket] = [try await board.open("ada")]
        for number in 1...6 {
            let later = try Switchboard.fixtures("\(mark) \(number)")
            try board.emulator.reload(FixtureStore(layers: [later.path]))
            // An idle sandbox with an open socket.
            let idle = board.world.named("idle-\(number)")
            _ = try await idle.call(.post, "/switchboard/sessions/ada")
            sockets.append(try await idle.openSocket("/switchboard/sessions/ada/socket"))
        }
        let living = Switchboard.living.withLock { living in
            (1...6).filter { living["\(mark) \($0)", default: 0] > 0 }
        }
        expect(living, is: [5, 6])
        for socket in sockets { socket.close() }
    }

    // MARK: - Journals

    @Test("an entry keeps what was answered, and not what opened behind it") func upgrade() async throws {
        let board = try await SwitchboardWorld(.pipeline)
        try await board.world.arm(#"{"vendor":"switchboard","route":"socket","fault":{"delay":"10ms"}}"#)
        let socket = try await board.open("ada")
        let entry = try #require(await board.handshakes { !$0.isEmpty }.last)
        expect(entry.response.status, is: .switchingProtocols)
        #expect(entry.response.upgrade == nil)
        expect(entry.response.transmission.delay, is: .milliseconds(10))
        socket.close()
    }
}
