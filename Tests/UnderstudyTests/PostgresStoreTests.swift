import Dispatch
import Emulation
import Expectations
import Foundation
import Support
import Synchronization
import Testing

@testable import Understudy

@Suite("A store in PostgreSQL", .timeLimit(.minutes(10))) struct PostgresStoreTests {
    final class Recorder: StoreMember {
        struct State {
            var wanted: Set<String> = []
            var regained: [[String: Int]] = []
            var told: [StoreProblem?] = []
        }

        let state = Mutex(State())

        func wanted(_ sandboxes: [String]) { state.withLock { $0.wanted.formUnion(sandboxes) } }
        func regained(_ held: [String: Int]) { state.withLock { $0.regained.append(held) } }
        func told(_ problem: StoreProblem?) { state.withLock { $0.told.append(problem) } }

        func await(_ isReached: (State) -> Bool) async {
            while !isReached(state.withLock { $0 }) { await Task.yield() }
        }
    }

    private let url: String

    init() throws { url = try PostgresServer.shared.get().makeDatabase() }

    /// A server whose renewals count for as long as any test takes, unless it is about their end.
    private func store(lease: Duration = .seconds(600)) throws -> PostgresStore {
        try PostgresStore(url, lease: lease, patience: .seconds(120))
    }

    private func connection() throws -> PostgresConnection {
        PostgresConnection(to: try PostgresAddress(url), patience: .seconds(120))
    }

    private func problem<Value>(_ body: () throws -> Value) -> String? {
        do {
            _ = try body()
            return nil
        } catch {
            return "\(error)"
        }
    }

    private func claimed(_ sandbox: String, by store: PostgresStore) async -> (StoreClaim, [StateRow], wasHeld: Bool) {
        while true {
            // Under load a short lease may lapse, and is regained.
            if case .claimed(let claim, let rows, _, let wasHeld) = try? store.claim(sandbox) {
                return (claim, rows, wasHeld)
            }
            await Task.yield()
        }
    }

    // MARK: One owner at a time

    @Test("tells an owner who wishes for its sandbox, and hands it over with the next epoch")
    func handOver() async throws {
        let (a, b, recorder) = (try store(), try store(), Recorder())
        a.join(recorder)
        #expect(a.start == b.start && a.start.count == 8 && a.replica != b.replica)
        #expect(a.isAlive && b.isAlive)
        let old = try a.claimed("x").claim
        let row = StateRow("p", "k", 1, "{}")
        expect(try a.put([row], in: old), is: [])
        guard case .held(let owner) = try b.claim("x") else { throw StoreProblem("two have it") }
        expect(owner, is: a.replica)
        expect(try b.list().map(\.owner), is: [a.replica])
        await recorder.await { $0.wanted == ["x"] }
        try a.release([old])
        let new = try b.claimed("x")
        expect(new.claim.epoch, is: old.epoch + 1)
        #expect(new.rows == [row] && new.wasHeld)
        expect(try a.put([row], in: old), is: ["x"])
        expect(try b.put([row], in: new.claim), is: [])
        try b.release([new.claim])
        #expect(try !a.claimed("x").wasHeld, "nobody had it any more, and nobody had wished for it")
    }

    @Test("takes what belongs to a server that cannot show that it is alive, and tells that one the truth")
    func lapse() async throws {
        let (a, b, recorder) = (try store(lease: .seconds(1)), try store(lease: .seconds(1)), Recorder())
        a.join(recorder)
        let taken = await claimed("x", by: a).0
        let kept = await claimed("y", by: a).0
        for claim in [taken, kept] { expect(try a.put([.init("p", "", 0, "a")], in: claim), is: []) }
        // Whoever holds this row keeps the server from renewing it.
        let brake = try connection()
        try brake.run("SET idle_in_transaction_session_timeout = 0")
        try brake.run("BEGIN")
        try brake.run("SELECT * FROM understudy.servers WHERE id = $1 FOR UPDATE", [a.id])
        while a.isAlive { await Task.yield() }
        expect(problem { try a.claim("z") }, is: "\(a.place): this server could not renew its lease in time")
        let (new, rows, wasHeld) = await claimed("x", by: b)
        #expect(new.epoch == taken.epoch + 1 && wasHeld)
        expect(rows, is: [.init("p", "", 0, "a")])
        expect(try b.put([.init("p", "", 0, "b")], in: new), is: [])
        expect(try a.put([.init("p", "", 0, "late")], in: taken), is: ["x"])
        expect(try b.rows(of: "x"), is: [.init("p", "", 0, "b")])
        await recorder.await { $0.told.contains { $0 != nil } }
        try brake.run("ROLLBACK")
        while !a.isAlive { await Task.yield() }
        let told = recorder.state.withLock { $0 }
        expect(told.regained.last, is: ["y": kept.epoch])
        expect(told.told.first, is: StoreProblem("\(a.place): the database has not answered for 1.0 seconds"))
        await recorder.await { $0.told.last == .some(nil) }
        expect(try a.put([.init("p", "", 0, "later")], in: kept), is: [])
    }

    @Test("gives way at once when a server has left, or was never there") func leaving() async throws {
        let (a, b) = (try store(), try store())
        let claim = try a.claimed("x").claim
        _ = try a.put([.init("p", "", 0, "{}")], in: claim, expires: Moment(unixSeconds: 5))
        a.leave()
        #expect(!a.isAlive)
        let new = try b.claimed("x")
        #expect(new.wasHeld && new.claim.epoch == claim.epoch + 1)
        let row = "INSERT INTO understudy.sandboxes VALUES ('y', 7, 'nobody', 1, 2, NULL)"
        try connection().run(row)
        expect(try b.list().map(\.name), is: ["x"], "it has neither rows nor an owner")
        expect(try b.claimed("y").claim.epoch, is: 8)
        b.leave()
        let c = try store()
        try c.deleteExpired(at: Moment(unixSeconds: 6), sparing: [])
        expect(try connection().run("SELECT name FROM understudy.sandboxes").texts(), is: [])
        expect(try c.rows(of: "x"), is: [])
    }

    @Test("releases what it has without knowing, when others wish for it") func doubts() async throws {
        let (a, b, recorder) = (try store(lease: .seconds(1)), try store(lease: .seconds(1)), Recorder())
        a.join(recorder)
        let brake = try connection()
        try brake.run("SET idle_in_transaction_session_timeout = 0")
        try brake.run("INSERT INTO understudy.sandboxes VALUES ('x', 3, NULL, 1, 2, NULL)")
        try brake.run("BEGIN")
        try brake.run("SELECT * FROM understudy.sandboxes FOR UPDATE")
        let answer = Mutex<String??>(nil)
        Thread.detachNewThread {
            let text = problem { try a.claim("x") }
            answer.withLock { $0 = .some(text) }
        }
        let waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%sandboxes%'"
        while try connection().run(waiting).indices.isEmpty { await Task.yield() }
        // The claim is answered when it is too late.
        try brake.run("SELECT * FROM understudy.servers WHERE id = $1 FOR UPDATE", [a.id])
        while a.isAlive { await Task.yield() }
        try brake.run("ROLLBACK")
        while answer.withLock({ $0 }) == nil { await Task.yield() }
        expect(answer.withLock { $0 }, is: .some("\(a.place): this server could not renew its lease in time"))
        while !a.isAlive { await Task.yield() }
        expect(await claimed("x", by: b).0.epoch, is: 5)
        expect(recorder.state.withLock { $0.wanted }, is: [])
    }

    @Test("makes its tables once, however many servers start at once") func racingStarts() throws {
        let starts = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            let start = problem { try store() } ?? (try? store().start)
            starts.withLock { $0.append(start ?? "") }
        }
        expect(Set(starts.withLock { $0 }), is: [try store().start])
    }

    // MARK: What is wrong is said

    @Test("says why it cannot be opened") func refusals() throws {
        let server = try PostgresServer.shared.get()
        let base = "postgres://postgres:\(PostgresServer.password)@127.0.0.1:\(server.port)"
        let masked = "postgres://postgres:***@127.0.0.1:\(server.port)"
        let place = "connection to server at \"127.0.0.1\", port \(server.port) failed: "
        for (url, text) in [
            (
                "postgres://postgres:wrong@127.0.0.1:\(server.port)/postgres",
                "\(masked)/postgres: \(place)password authentication failed for user \"postgres\""
            ),
            ("\(base)/absent", "\(masked)/absent: \(place)database \"absent\" does not exist"),
            (
                "postgres://u:wrong@127.0.0.1:1/x",
                "postgres://u:***@127.0.0.1:1/x: connection to server at \"127.0.0.1\", port 1 failed: Connection refused"
            ),
            ("\(base)/x?pasword=secret", "\(masked)/x?pasword=***: invalid URI query parameter: \"pasword\""),
        ] { expect(problem { try PostgresStore(url) }, is: text) }
        let unknown = problem { try PostgresStore("postgres://u:wrong@host.invalid/x") }
        let words = "postgres://u:***@host.invalid/x: could not translate host name \"host.invalid\" to address: "
        expect(unknown?.hasPrefix(words), is: true, "\(unknown ?? "")")
        expect(
            problem { try LibPQ.load(["libpq-absent.so"]) },
            is: "PostgreSQL's client library is missing: apt-get install libpq5, or brew install libpq")
    }

    @Test("refuses a newer schema") func newerSchema() throws {
        _ = try store()
        try connection().run("UPDATE understudy.meta SET version = 2")
        let place = try PostgresAddress(url).place
        expect(
            problem { try store() }, is: "\(place): the schema understudy has version 2, this release reads version 1")
    }

    @Test(
        "shows no password",
        arguments: [
            ("postgres://host/db", "postgres://host/db"), ("postgres://u@host:5432/db", "postgres://u@host:5432/db"),
            ("postgresql://u:secret@host/db", "postgresql://u:***@host/db"),
            ("postgres://u:@host/db", "postgres://u:***@host/db"),
            ("postgres://u:sec?ret@a:1,b:2/db?sslmode=require", "postgres://u:***@a:1,b:2/db?sslmode=require"),
            ("postgres://[::1]:5432/db?user=me@x", "postgres://[::1]:5432/db?user=me@x"),
            (
                "postgres://host/db?user=u&password=secret&sslpassword=secret&x",
                "postgres://host/db?user=u&password=***&sslpassword=***&x"
            ),
            ("postgres:///db?host=/run&p%61ssword=secret", "postgres:///db?host=/run&p%61ssword=***"),
        ])
    func masks(_ url: String, _ place: String) { #expect(PostgresAddress.masked(url) == (place, false)) }

    @Test(
        "says nothing of a password that a URL cannot hold as it is",
        arguments: [
            "postgres://u:sec/ret@host/db", "postgres://u:sec@ret@host/db", "postgres://u:12/sec@host/db",
            "postgres://u:sec/ret?x@host/db", "postgres://u:sec%zzret@host/db", "postgres://u:secret@[::1/db",
            "postgres://u:secret@[::1]x/db",
        ])
    func unclearPasswords(_ url: String) {
        let text = problem { try PostgresAddress(url) }
        expect(text?.hasPrefix("postgres://u:***"), is: true)
        #expect(text?.contains("sec") == false && text?.contains("ret") == false, "\(text ?? "")")
    }

    // MARK: The database goes and comes

    @Test("works again by itself when the database was killed, stopped or suspended") func outages() async throws {
        let server = try PostgresServer()
        let url = try server.makeDatabase()
        let (store, recorder) = (try PostgresStore(url, lease: .seconds(1), patience: .seconds(2)), Recorder())
        store.join(recorder)
        let claim = await claimed("x", by: store).0
        expect(try store.put([.init("p", "", 0, "1")], in: claim), is: [])
        let refused =
            "\(store.place): connection to server at \"127.0.0.1\", port \(server.port) failed: Connection refused"
        for (signal, document) in [("KILL", "2"), ("INT", "3")] {
            recorder.state.withLock { $0.told = [] }
            try server.end(by: signal)
            for call in [
                problem { try store.put([.init("p", "", 0, document)], in: claim) },
                problem { try store.rows(of: "x") },
                problem { try store.list() }, problem { try PostgresStore(url) },
            ] { expect(call, is: refused) }
            await recorder.await { !$0.told.isEmpty }
            #expect(!store.isAlive)
            try server.start()
            expect(try store.put([.init("p", "", 0, document)], in: claim), is: [])
            await recorder.await { $0.told.last == .some(nil) && $0.regained.last == ["x": claim.epoch] }
            expect(try store.rows(of: "x"), is: [.init("p", "", 0, document)])
        }
        // Suspended, it keeps its sockets open and says nothing.
        let sessions = try PostgresConnection(to: PostgresAddress(url), patience: .seconds(120))
            .run("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")
        let processes = sessions.texts().compactMap { pid_t($0) } + [server.process]
        for process in processes { kill(process, SIGSTOP) }
        expect(
            problem { try store.put([.init("p", "", 0, "4")], in: claim) },
            is: "\(store.place): the database has not answered for 2.0 seconds")
        let silent = problem { try store.rows(of: "x") }
        expect(silent, is: "\(store.place): the database has not answered for 2.0 seconds")
        let late = "connection to server at \"127.0.0.1\", port \(server.port) failed: timeout expired"
        expect(problem { try store.rows(of: "x") }, is: "\(store.place): \(late)")
        #expect(!store.isAlive)
        for process in processes { kill(process, SIGCONT) }
        expect(try store.put([.init("p", "", 0, "5")], in: claim), is: [])
        while !store.isAlive { await Task.yield() }
        expect(try store.rows(of: "x"), is: [.init("p", "", 0, "5")])
    }
}
