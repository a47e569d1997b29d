import Foundation
import Testing
import UnderstudyClient

@Suite("The journal")
struct JournalTests {
    @Test("It is filtered, told in words and cleared")
    func entries() async throws {
        try await Suite.inSandbox { sandbox in
            let journal = sandbox.journal
            #expect(try await journal.describe() == "Sandbox \(sandbox.name) was not called.")
            _ = try await sandbox.call(token: sandbox.mint("rezolve/login"))
            _ = try await sandbox.call(token: "a.b.c")
            _ = try await sandbox.call("GET", "/v2/credential/ping")
            #expect(try await journal.entries().map(\.status) == [200, 403, 404])
            #expect(try await journal.entries(status: "4xx").map(\.status) == [403, 404])
            #expect(
                try await journal.entries(vendor: "rezolve", route: "addressbook.*", status: "200").map(\.id) == [1])
            #expect(try await journal.refusals().map { $0.json["request"]?["target"] } == [.string(Suite.book)])
            #expect(try await journal.entries(after: 1, last: 1).map(\.id) == [3])
            #expect(try await journal.entries(unmatched: true).map(\.id) == [3])
            #expect(try await journal.entries(since: Date(timeIntervalSinceNow: 3600)).isEmpty)
            #expect(try await journal.entries(since: Date(timeIntervalSinceNow: -3600)).count == 3)
            #expect(try await journal.last()?.route == nil)
            #expect(try await journal.entry(2).failure == "masked-signature")
            let words = try await journal.describe(last: 2)
            #expect(!words.contains("#1 ") && words.contains("#2 GET") && words.contains("   nearest routes: "))
            #expect(words.contains("#3 GET /v2/credential/ping (no vendor)\n   answered 404"))
            try await journal.clear()
            #expect(try await journal.last() == nil)
        }
    }

    @Test("It is waited for")
    func waiting() async throws {
        try await Suite.inSandbox { sandbox in
            async let entries = sandbox.journal.wait(for: 2, within: .seconds(30), route: "addressbook.list")
            _ = try await sandbox.call()
            _ = try await sandbox.call()
            #expect(try await entries.count == 2)
            #expect(try await sandbox.journal.wait(for: 3, within: .milliseconds(1)).count == 2)
        }
    }

    @Test("Expected calls have numbers; others are an error with the nearest calls")
    func expectations() async throws {
        try await Suite.inSandbox { sandbox in
            _ = try await sandbox.call()
            #expect(try await sandbox.expectCalls(where: ["route": "addressbook.list"]) == [1])
            try await sandbox.expectCalls(.exactly(1), where: ["status": 403])
            try await sandbox.expectCalls(.atMost(1), where: ["header": ["X-Rezolve-Device-Id": ["present": true]]])
            try await sandbox.expectCalls(.never, where: ["route": "rua.ping"])
            let failure = try await error(UnmetExpectation.self) {
                try await sandbox.expectCalls(.exactly(2), where: ["route": "addressbook.list", "status": 200])
            }
            let lines = failure.description.split(separator: "\n")
            #expect(lines.count == 3 && lines[0].hasPrefix("expected exactly 2 exchanges, found 0"))
            #expect(lines[1].hasPrefix("  #1 rezolve addressbook.list: GET \(Suite.book) → 403"))
            #expect(lines[2] == "      status: expected 200, found 403")
            #expect(failure.verdict["count"] == 0 && failure.verdict["nearest"]?[0]?["id"] == 1)
        }
    }

    @Test("A sequence is met, or an error says which step is missing")
    func sequences() async throws {
        try await Suite.inSandbox { sandbox in
            let token = try await sandbox.mint("rezolve/login", ["defect": "expired"])
            _ = try await sandbox.call(token: token)
            _ = try await sandbox.call(token: token)
            let found = try await sandbox.expectSequence(
                ["route": "addressbook.list"], ["status": 401, "token": "same", "within": "1m"])
            #expect(found == [1, 2])
            let failure = try await error(UnmetExpectation.self) {
                try await sandbox.expectSequence(["status": 401], ["route": "rua.ping"])
            }
            #expect(failure.description.hasPrefix("no exchange after entry 1 is step 2 of 2 (route rua.ping); "))
            _ = try await error(UnmetExpectation.self) {
                try await sandbox.expectSequence(["status": 401], noneAfter: ["status": 401])
            }
        }
    }

    @Test("An expectation waits for its calls")
    func patience() async throws {
        try await Suite.inSandbox { sandbox in
            async let met = sandbox.expectCalls(.atLeast(2), where: ["status": 403], within: .seconds(30))
            _ = try await sandbox.call()
            _ = try await sandbox.call()
            #expect(try await met == [1, 2])
        }
    }
}
