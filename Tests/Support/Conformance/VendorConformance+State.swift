import Emulation
import Expectations
import JSON
import Synchronization
import Testing

extension VendorConformance {
    /// Checks exports: putting one back changes nothing and undoes later events, it contains no secret, and it creates
    /// the same state in another sandbox.
    package func checkExport(_ depth: Depth) async throws {
        let (world, other) = (try await world(depth), try await world(depth))
        let past = try await lived().live(world)
        let (kept, seen) = (try await past.kept(world), try await past.seen(world))
        let exported = try await state(world)
        for secret in try lived().secrets where exported.contains(secret) {
            Issue.record("\(id): \(secret) is in \(exported)")
        }
        try await past.goOn(world)
        #expect(try await state(world) != exported, "nothing went on")
        let put = try await world.control(.put, "state/" + id, exported)
        expect(put.status, is: 200)
        expect(put.text, is: exported)
        let seenAgain = try await past.seen(world)
        expect(seenAgain, is: seen)
        let keptAgain = try await past.kept(world)
        expect(keptAgain, is: kept, "who was there keeps what the export leaves out")
        let portability = try lived().portability
        if portability == .nothing { return }
        expect(try await other.control(.put, "state/" + id, exported).text, is: exported)
        guard portability == .everything else { return }
        let seenElsewhere = try await past.seen(other)
        expect(seenElsewhere, is: seen)
    }

    /// Checks that events survive two restarts, and that nothing is kept of unused sandboxes.
    package func checkRestart(_ memory: Memory) async throws {
        let server = server.only(id)
        let first = try server.fresh(keeping: memory)
        let (world, untouched) = (try await world(on: first), try await world(on: first))
        let past = try await lived().live(world)
        _ = try await untouched.call(.get, (try mounted().identity.prefixes.first ?? "") + "/nothing-here")
        #expect(try await self.state(untouched) != self.state(world))
        let (kept, seen) = (try await past.kept(world), try await past.seen(world))
        var (stage, state) = (first, try await state(world))
        for round in 1...2 {
            #expect(changes(of: world, at: stage) != nil)
            expect(changes(of: untouched, at: stage), is: changes(of: world.named("new"), at: stage))
            let next = try server.restarted(stage)
            expect(next.emulator.exportState()["sandboxes"], is: stage.emulator.exportState()["sandboxes"])
            stage = next
            let again = try await self.world(world, movedTo: stage)
            expect(try await self.state(again), is: state)
            expect(try await past.seen(again), is: seen)
            // Looking may change the state, such as by a sign-in.
            state = try await self.state(again)
            if round == 2 { expect(try await past.kept(again), is: kept) }
        }
    }

    /// Checks that later events have the same effect after a restart as without one.
    package func checkContinuation(_ memory: Memory) async throws {
        let server = server.only(id)
        let stage = try server.fresh(keeping: memory)
        let world = try await world(on: stage)
        let past = try await lived().live(world)
        let again = try await self.world(world, movedTo: server.restarted(stage))
        for world in [world, again] {
            // Without a seed the two would draw different ids.
            world.sandbox.identifiers.resume(at: 1)
            try await past.goOn(world)
        }
        #expect(try await state(again) == state(world))
    }

    package func checkReset() async throws {
        let server = server.only(id)
        let stage = try server.fresh()
        let world = try await world(on: stage)
        func records() async throws -> JSON {
            let state = try await world.control(.get, "state/" + id).json.object ?? [:]
            return .object(JSONObject(state.filter { !resetMarks.contains($0.name) }.map { ($0.name, $0.value) }))
        }
        let before = try await records()
        _ = try await lived().live(world)
        #expect(try await records() != before)
        try await world.control(.post, "reset")
        try await world.freeze(at: moment)
        expect(try await records(), is: before)
        if resetMarks.isEmpty { expect(changes(of: world, at: stage), is: changes(of: world.named("new"), at: stage)) }
    }

    /// A sandbox's entry in a state file; `nil` if nothing happened in it.
    private func changes(of world: World, at stage: Stage) -> JSON? {
        _ = stage.emulator.sandboxes.sandbox(world.name)
        let entry = stage.emulator.exportState()["sandboxes"]?.array?.first { $0["name"]?.string == world.name }
        return entry?["state"]?[id]
    }

    /// Checks that reloading fixtures keeps what requests made, while an unused sandbox follows the files.
    package func checkReload() async throws {
        let server = server.only(id)
        let own = try OwnFixtures(over: server.fixtures)
        let stage = try server.fresh(under: own.path)
        let (world, untouched) = (try await world(on: stage), try await world(on: stage))
        let before = try await state(untouched)
        let past = try await lived().live(world)
        let (kept, seen) = (try await past.kept(world), try await past.seen(world))
        var state = try await state(world)
        for round in 1...2 {
            for name in ["accounts.yaml", "failures.yaml"] {
                try own.write("# \(round)\n" + own.text("\(id)/\(name)"), to: "\(id)/\(name)")
            }
            try stage.emulator.reload(FixtureStore(layers: [own.path, server.fixtures]))
            expect(try await self.state(world), is: state)
            expect(try await past.seen(world), is: seen)
            expect(try await self.state(untouched), is: before)
            // Looking may change the state, such as by a sign-in.
            state = try await self.state(world)
            if round == 2 { expect(try await past.kept(world), is: kept) }
        }
    }

    package func checkIsolation(_ depth: Depth) async throws {
        let (world, other) = (try await world(depth), try await world(depth))
        let before = try await state(other)
        _ = try await lived().live(world)
        #expect(try await state(world) != before)
        expect(try await state(other), is: before)
        expect(try await state(self.world(depth)), is: before)
        expect(other.sandbox.journal.count, is: 0)
        expect(other.sandbox.now.wholeSeconds, is: moment)
    }

    /// Checks that equal seeds give the same state and journal byte for byte, and different seeds different ones.
    package func checkSeed() async throws {
        let server = server.only(id)
        // A server of its own: on a shared one, the journals of others can push entries of this one out.
        let world = try await World(on: server.fresh(), at: nil)
        func record(seed: Int) async throws -> (texts: [String], drawn: [String]) {
            try await world.control(.delete, "sandboxes/" + world.name)
            try await world.set(seed: seed)
            try await world.freeze(at: moment)
            let past = try await lived().live(world)
            let texts = [try await state(world), try await world.control(.get, "journal").text]
            return (texts, try await past.kept(world) + texts)
        }
        let first = try await record(seed: 7)
        let second = try await record(seed: 7)
        for (again, text) in zip(second.texts, first.texts) where again != text {
            let start = max(0, zip(again.utf8, text.utf8).prefix { $0 == $1 }.count - 200)
            let shown = [text, again].map { String(decoding: $0.utf8.dropFirst(start).prefix(500), as: UTF8.self) }
            Issue.record("\(id) does not repeat itself: first …\(shown[0])…, then …\(shown[1])…")
        }
        if try lived().drawsIDs { #expect(try await record(seed: 8).drawn != first.drawn) }
    }

    package func check(_ wrong: WrongAccounts) throws {
        let server = server.only(id)
        let (file, own) = ("\(id)/accounts.yaml", try OwnFixtures(over: server.fixtures))
        try own.put(file, [(wrong.old, wrong.new)])
        let problem = #expect(throws: FixtureProblem.self) { try server.fresh(under: own.path) }
        expect(problem?.description.contains(wrong.complaint), is: true, "\(problem?.description ?? "")")
        expect(problem?.file.contains(id + "/"), is: true)
        if problem?.file.hasSuffix(file) == true { #expect(problem?.line != nil) }
    }

    /// Checks that a wrong state is refused with the place of the mistake, and that nothing changes.
    package func check(_ wrong: WrongState) async throws {
        let world = try await livedWorld()
        let before = try await state(world)
        let answer = try await world.control(.put, "state/" + id, wrong.state)
        expect(answer.status, is: 400)
        expect(answer.json["error"]?["code"], is: "invalid")
        expect(answer.json["error"]?["message"]?.string?.contains(wrong.complaint), is: true, "\(answer.text)")
        expect(try await state(world), is: before)
    }

    private static let livedWorlds = Mutex<[String: Task<World, any Error>]>([:])

    /// A sandbox with a life behind it, which all imports that are refused share, since each leaves it as it was.
    private func livedWorld() async throws -> World {
        let lived = Self.livedWorlds.withLock { worlds in
            if let known = worlds[id] { return known }
            let task = Task {
                let world = try await world()
                _ = try await life?.live(world)
                return world
            }
            worlds[id] = task
            return task
        }
        return try await lived.value
    }

    /// Checks the limit of records: beyond it, one is refused and changes nothing, or the oldest are evicted.
    package func check(_ bound: BoundCase) async throws {
        let world = try await world()
        let start = try #require(try await bound.count(world))
        for number in start..<bound.most {
            let answer = try await bound.make(world, number)
            guard (200...299).contains(answer.status) else {
                Issue.record("\(id): record \(number) of \(bound) was answered \(answer.status) \(answer.text)")
                return
            }
        }
        expect(try await bound.count(world), is: bound.most)
        let answer = try await bound.make(world, bound.most)
        switch bound.beyond {
        case .refused(let failure):
            let sheet = try FailureSheet.read(id, in: server.fixtures)
            let expected = sheet.answer(failure, route: answer.entry?.record.route ?? "", switches: [:])
            expect(answer.status, is: expected.status)
            expect(withoutOwnIDs(answer.text), is: expected.text)
            expect(answer.failure, is: failure)
            expect(try await bound.count(world), is: bound.most)
        case .evicts(let left):
            #expect((200...299).contains(answer.status), "\(answer.text)")
            expect(try await bound.count(world), is: left)
        }
    }
}

/// A sequence of events of every kind in a sandbox, and what can be observed afterwards.
package struct SandboxLife: Sendable {
    package typealias Look = @Sendable (World) async throws -> [String]

    package struct Past: Sendable {
        /// Everything that a client can see.
        let seen: Look
        /// What only clients with the secrets that an export omits can see.
        let kept: Look
        let goOn: @Sendable (World) async throws -> Void

        package init(
            seen: @escaping Look, kept: @escaping Look = { _ in [] },
            goOn: @escaping @Sendable (World) async throws -> Void
        ) {
            (self.seen, self.kept, self.goOn) = (seen, kept, goOn)
        }
    }

    /// What an export carries to another sandbox.
    package enum Portability: Sendable {
        case everything
        /// The records; clients need tokens of that sandbox.
        case records
        /// Nothing, since it depends on secrets of the sandbox.
        case nothing
    }

    let live: @Sendable (World) async throws -> Past
    /// Values that no export may contain.
    let secrets: [String]
    let portability: Portability
    /// Whether it draws random values, so that another seed makes a difference.
    let drawsIDs: Bool

    package init(
        secrets: [String], portability: Portability = .everything, drawsIDs: Bool = true,
        live: @escaping @Sendable (World) async throws -> Past
    ) {
        (self.secrets, self.portability, self.drawsIDs, self.live) = (secrets, portability, drawsIDs, live)
    }
}

/// A state that cannot be imported, and the complaint about it.
package struct WrongState: Sendable, CustomStringConvertible {
    let state: String
    let complaint: String

    package init(_ state: String, complaint: String) { (self.state, self.complaint) = (state, complaint) }

    package var description: String { complaint }
}

/// A change of the accounts that prevents the start, and the complaint about it.
package struct WrongAccounts: Sendable, CustomStringConvertible {
    let old: String
    let new: String
    let complaint: String

    package init(_ old: String, to new: String, complaint: String) {
        (self.old, self.new, self.complaint) = (old, new, complaint)
    }

    package var description: String { complaint }
}

/// How many records of a kind are allowed, and what happens to the next one.
package struct BoundCase: Sendable, CustomStringConvertible {
    package enum Beyond: Sendable {
        case refused(String)
        /// The oldest are evicted, which leaves that many.
        case evicts(leaving: Int)
    }

    let records: String
    let most: Int
    let beyond: Beyond
    let make: @Sendable (World, Int) async throws -> ReceivedAnswer
    let count: @Sendable (World) async throws -> Int?

    /// A limit of records, how to make the one with a given number, and how to count them.
    package init(
        _ records: String, most: Int, beyond: Beyond,
        make: @escaping @Sendable (World, Int) async throws -> ReceivedAnswer,
        count: @escaping @Sendable (World) async throws -> Int?
    ) {
        (self.records, self.most, self.beyond, self.make, self.count) = (records, most, beyond, make, count)
    }

    package var description: String { "\(most) \(records)" }
}
