import Support
import Synchronization
import Testing

@testable import Understudy

private struct Surprise: Error, CustomStringConvertible {
    let description: String
}

/// Claims: who may write a sandbox's file, whatever several servers do at once.
@Suite("Claims to sandboxes")
struct ClaimTests {
    let home: TemporaryFolder
    let folder: StateFolder

    init() throws {
        home = try TemporaryFolder()
        folder = StateFolder(home.path)
        try folder.make()
    }

    private final class Counts: Sendable {
        let holders = Atomic(0)
        let turns = Atomic(0)
    }

    @Test("a lease's file is read as it was written, and every beat has its length", arguments: [true, false])
    func lease(_ isLocked: Bool) {
        let first = Lease.Text(boot: "b-1", isLocked: isLocked, process: 42, beats: 0)
        let last = Lease.Text(boot: "b-1", isLocked: isLocked, process: 42, beats: .max)
        for text in [first, last] { #expect(Lease.Text(text.bytes) == text) }
        #expect(first.bytes.count == last.bytes.count)
        #expect(Lease.Text(Array("boot b-1\nlocked true\nprocess 42\nbeat 1 2\n".utf8)) == nil)
    }

    private func draft(_ text: String, under claim: StateFolder.Claim) -> StateFolder.Draft {
        StateFolder.Draft(file: claim.file, bytes: Array(text.utf8), claim: claim)
    }

    /// The claim of a session that gets the sandbox, and whether there is a file.
    private func taken(
        _ session: String, after gone: Set<String> = []
    ) throws -> (claim: StateFolder.Claim, hasFile: Bool) {
        let taking = try folder.take("box", for: session) { gone.contains($0) }
        guard case .taken(let claim, let hasFile, _) = taking else {
            throw Surprise(description: "the sandbox is held: \(taking)")
        }
        return (claim, hasFile)
    }

    private var texts: [String: String] {
        get throws {
            let names = try home.files.filter { $0.hasPrefix("sandboxes/") && $0.hasSuffix(".json") }
            return try Dictionary(
                uniqueKeysWithValues: names.map {
                    ($0.split(separator: "/").last.map(String.init) ?? "", try home.text(of: $0))
                })
        }
    }

    @Test("exclude each other, however many sessions take and release a sandbox at once")
    func exclusion() async throws {
        let folder = folder
        let counts = Counts()
        let worst = await withTaskGroup(of: Int.self) { group in
            for session in 0..<8 {
                group.addTask {
                    var worst = 0
                    while counts.turns.load(ordering: .relaxed) < 400 {
                        guard
                            case .taken(let claim, _, _)? = try? folder.take(
                                "box", for: "s.\(session)", isGone: { _ in false })
                        else {
                            await Task.yield()
                            continue
                        }
                        worst = max(worst, counts.holders.add(1, ordering: .sequentiallyConsistent).newValue)
                        counts.turns.add(1, ordering: .relaxed)
                        await Task.yield()
                        counts.holders.subtract(1, ordering: .sequentiallyConsistent)
                        folder.release(claim)
                    }
                    return worst
                }
            }
            return await group.reduce(0, max)
        }
        #expect(worst == 1)
        #expect(counts.turns.load(ordering: .relaxed) >= 400)
        #expect(try folder.claims(to: "box") == [])
    }

    @Test("of a session that is gone are taken over by one of those that want them")
    func inheritance() async throws {
        let folder = folder
        for round in 0..<50 {
            let name = "box-\(round)"
            guard case .taken = try folder.take(name, for: "old.1", isGone: { _ in false }) else {
                throw Surprise(description: "\(name) is not free")
            }
            let heirs = await withTaskGroup(of: Int.self) { group in
                for session in 0..<6 {
                    group.addTask {
                        let taking = try? folder.take(name, for: "heir.\(session)") { $0 == "old.1" }
                        if case .taken? = taking { return 1 }
                        return 0
                    }
                }
                return await group.reduce(0, +)
            }
            // Those that claim at the same moment may all withdraw, but never does more than one stay.
            #expect(heirs <= 1)
            #expect(try folder.claims(to: name).filter { $0.owner.hasPrefix("heir") }.count == heirs)
        }
    }

    @Test("are held until they are released, and know who holds them")
    func holding() throws {
        let (claim, hasFile) = try taken("a.1")
        #expect(claim == StateFolder.Claim(sandbox: "box", fence: 1, owner: "a.1"))
        #expect(!hasFile)
        guard case .held(claim) = try folder.take("box", for: "b.1", isGone: { _ in false }) else {
            throw Surprise(description: "the sandbox is not held")
        }
        #expect(try taken("a.1").claim == claim)
        folder.release(claim)
        #expect(!folder.isInForce(claim))
        #expect(try taken("b.1").claim.owner == "b.1")
    }

    @Test("that are taken over give the file a higher number, and an end to what was being written")
    func takingOver() throws {
        let first = try taken("a.1").claim
        #expect(folder.write([draft("one", under: first)]).failure == nil)
        try home.write(
            "half a", to: "sandboxes/\(folder.bucket(of: "box").split(separator: "/").last ?? "")/.box.77.partial")
        let second = try taken("b.1", after: ["a.1"])
        #expect(second.claim.fence == 2)
        #expect(second.hasFile)
        #expect(try texts == ["box.2.json": "one"])
        #expect(try !home.files.contains { $0.hasSuffix(".partial") })
        // A slow owner notices before it writes.
        let (written, failure) = folder.write([draft("late", under: first)])
        #expect(written == [])
        #expect(failure?.description == "Stale file handle")
        #expect(try texts == ["box.2.json": "one"])
        #expect(folder.write([draft("two", under: second.claim)]).failure == nil)
        #expect(try texts == ["box.2.json": "two"])
    }

    @Test("keep the newest of several files, which only servers of other releases leave")
    func severalFiles() throws {
        let bucket = "sandboxes/\(folder.bucket(of: "box").split(separator: "/").last ?? "")"
        for fence in 3...5 { try home.write("\(fence)", to: "\(bucket)/box.\(fence).json") }
        try home.write("another", to: "\(bucket)/box-2.9.json")
        #expect(try taken("a.1").claim.fence == 6)
        #expect(try texts == ["box.6.json": "5", "box-2.9.json": "another"])
    }

    @Test("mean nothing to the only server of the folder, which removes them")
    func alone() throws {
        let claim = try taken("a.1").claim
        #expect(folder.write([draft("one", under: claim)]).failure == nil)
        #expect(try folder.files(of: "box") == [claim.file])
        #expect(try folder.claims(to: "box") == [])
    }
}
