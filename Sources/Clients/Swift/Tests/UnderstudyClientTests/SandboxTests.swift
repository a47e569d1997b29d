import Foundation
import Testing
import UnderstudyClient

@Suite("Sandboxes")
struct SandboxTests {
    @Test("They are worlds of their own")
    func worlds() async throws {
        let server = try await Suite.server.value
        try await server.withSandbox("one") { one in
            try await server.withSandbox("other") { other in
                try await one.clock.freeze(at: Suite.moment)
                #expect(try await one.call() == 403)
                #expect(try await other.clock.read()["machine_time"] == true)
                #expect(try await other.journal.entries().isEmpty)
                #expect(try await one.journal.entries().count == 1)
                #expect(try await one.call(at: server.url, headers: one.headers) == 403)
                #expect(try await one.journal.entries().count == 2)
            }
        }
    }

    @Test("A test's sandbox is named after it and gone after it")
    func names() async throws {
        let server = try await Suite.server.value
        let name = try await server.withSandbox { sandbox in
            try await sandbox.clock.freeze()
            #expect(try await server.sandboxes().contains { $0["name"]?.string == sandbox.name })
            return sandbox.name
        }
        #expect(name.hasPrefix("names-"))
        #expect(try await !server.sandboxes().contains { $0["name"]?.string == name })
        let made = try await server.sandbox(for: "ServerTests/é[one/two]-" + String(repeating: "x", count: 60))
        #expect(made.name.hasPrefix("servertests-one-two-xxx") && made.name.count <= 63)
        #expect(try await server.sandbox(for: "???").name.hasPrefix("test-"))
    }

    @Test("Other names are refused", arguments: ["", "A", "a_b", "a/b", "a\n", String(repeating: "x", count: 64)])
    func wrongName(name: String) async throws {
        let server = try await Suite.server.value
        await #expect(throws: InvalidArgument.self) { try await server.sandbox(name) }
    }

    @Test("One that nobody used can be deleted, and one may have a time to live")
    func lifetime() async throws {
        let server = try await Suite.server.value
        try await server.sandbox("unused").delete()
        let brief = try await server.sandbox("brief", ttl: .seconds(600))
        #expect(try await server.sandboxes().first { $0["name"] == "brief" }?["ttl_seconds"] == 600)
        try await server.control("PUT", "sandboxes/brief", ["ttl": nil])
        let found = try #require(try await server.sandboxes().first { $0["name"] == "brief" })
        #expect(found["ttl_seconds"] == .some(.null))
        try await brief.delete()
    }

    @Test("In a server that goes on, a test's sandbox goes by itself should the test crash")
    func forgotten() async throws {
        let attached = try await Understudy.attach(try await Suite.server.value.url.absoluteString)
        try await attached.withSandbox { sandbox in
            let found = try await attached.sandboxes().first { $0["name"]?.string == sandbox.name }
            #expect(found?["ttl_seconds"] == 7200)
        }
    }

    @Test("A test that throws reports its journal")
    func report() async throws {
        struct Failed: Error {}
        let server = try await Suite.server.value
        var reports: [String] = []
        var name = ""
        await #expect(throws: Failed.self) {
            try await server.withSandbox("reported", report: { reports.append($0) }) { sandbox in
                name = sandbox.name
                _ = try await sandbox.call()
                throw Failed()
            }
        }
        let report = try #require(reports.first)
        #expect(reports.count == 1 && report.hasPrefix("Sandbox reported-") && report.contains(", newest last:\n"))
        #expect(report.contains("#1 GET \(Suite.book) (rezolve, addressbook.list)\n   answered 403: "))
        #expect(report.contains("   failed rule") && report.contains("   reason: "))
        #expect(try await !server.sandboxes().contains { $0["name"]?.string == name })
        try await server.withSandbox("fine", report: { reports.append($0) }) { sandbox in _ = try await sandbox.call() }
        #expect(reports.count == 1)
    }

    @Test("A test that is cancelled reports and is tidied up as well")
    func cancelled() async throws {
        let server = try await Suite.server.value
        let reports = Reports()
        let test = Task {
            try await server.withSandbox("cancelled", report: { reports.take($0) }) { sandbox in
                reports.take(sandbox.name)
                _ = try await sandbox.call()
                withUnsafeCurrentTask { $0?.cancel() }
                try await sandbox.clock.freeze()
            }
        }
        await #expect(throws: CancellationError.self) { try await test.value }
        #expect(reports.all.count == 2 && reports.all.last?.contains("#1 GET") == true)
        #expect(try await !server.sandboxes().contains { $0["name"]?.string == reports.all.first })
    }
}

/// Texts from a task of another isolation; safe, since all of it is read and changed under the lock.
private final class Reports: @unchecked Sendable {
    private let lock = NSLock()
    private var texts: [String] = []

    var all: [String] { lock.withLock { texts } }

    func take(_ text: String) { lock.withLock { texts.append(text) } }
}
