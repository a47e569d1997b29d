import Testing
import Wire

@testable import HTTPEngine

/// How a server treats clients that are slow, too many, or gone.
@Suite(.timeLimit(.minutes(15))) struct ServerLimitTests {
    private func limits(_ change: (inout Limits) -> Void) -> Limits {
        var limits = Limits()
        change(&limits)
        return limits
    }

    /// Everything a client receives that sends the text and reads to the end.
    private func answer(to text: String, _ limits: Limits) async throws -> String {
        try await withServer(limits: limits) { port in
            try await onThread {
                let client = try RawClient(port: port)
                defer { client.close() }
                try client.send(text)
                return try client.readToEnd()
            }
        }
    }

    @Test func `A head that does not end in time is told so`() async throws {
        let answer = try await answer(to: "GET / HTTP/1.1\r\nHost: a\r\n", limits { $0.header = .milliseconds(30) })
        #expect(answer.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
    }

    @Test func `A content that does not end in time is told so`() async throws {
        let text = "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na"
        let answer = try await answer(to: text, limits { $0.body = .milliseconds(30) })
        #expect(answer.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
    }

    @Test func `An idle connection ends without a word`() async throws {
        #expect(try await answer(to: "", limits { $0.idle = .milliseconds(30) }).isEmpty)
        let served = try await answer(to: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", limits { $0.idle = .milliseconds(30) })
        #expect(served.hasSuffix("GET / []"))
    }

    @Test func `A client that takes nothing of its answer is cut off`() async throws {
        let handler = StubHandler(respond: { _ in
            .ready(Response(status: .ok, body: [UInt8](repeating: 0, count: 32 << 20)))
        })
        try await withServer(handler, limits: limits { $0.write = .milliseconds(50) }, loops: 1) { port in
            let client = try await onThread {
                let client = try RawClient(port: port, receiveBuffer: 4096)
                try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                return client
            }
            defer { client.close() }
            let count = try await onThread { try client.countAfterCutOff() }
            #expect(count < 32 << 20)
        }
    }

    @Test func `A client that does not close is closed after the last answer`() async throws {
        let text = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        try await withServer(limits: limits { $0.linger = .milliseconds(30) }) { port in
            try await onThread {
                let client = try RawClient(port: port)
                defer { client.close() }
                try client.send(text)
                #expect(try client.readToEnd().hasSuffix("GET / []"))
                // Sending fails only after the server has closed.
                #expect(throws: RawClientError.self) { while true { try client.send("x") } }
            }
        }
    }

    @Test func `A client over the limit gets the place of the one that has been idle for longest`() async throws {
        try await withServer(limits: limits { $0.maximumConnections = 2 }, loops: 1) { port in
            try await onThread {
                let idle = try RawClient(port: port)
                defer { idle.close() }
                try idle.send("GET /1 HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try idle.readAnswer().hasSuffix("GET /1 []"))
                let next = try RawClient(port: port)
                defer { next.close() }
                try next.send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try next.readAnswer().hasSuffix("GET /2 []"))
                let last = try RawClient(port: port)
                defer { last.close() }
                try last.send("GET /3 HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try last.readAnswer().hasSuffix("GET /3 []"))
                #expect(try idle.readToEnd().isEmpty)
            }
        }
    }

    @Test func `A client over the limit waits while all others are being answered`() async throws {
        let isReleased = Signal()
        let handler = StubHandler(respond: { request in
            guard request.path == "/held" else { return .ready(.text(StubHandler.describe(request))) }
            return .deferred {
                await isReleased.wait()
                return .text("held")
            }
        })
        try await withServer(handler, limits: limits { $0.maximumConnections = 1 }) { port in
            try await onThread {
                let held = try RawClient(port: port)
                defer { held.close() }
                try held.send("GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
                let next = try RawClient(port: port)
                defer { next.close() }
                try next.send("GET /2 HTTP/1.1\r\nHost: a\r\n\r\n")
                isReleased.give()
                #expect(try held.readAnswer().hasSuffix("held"))
                #expect(try next.readAnswer().hasSuffix("GET /2 []"))
            }
        }
    }

    @Test func `A slow client keeps nobody waiting`() async throws {
        try await withServer(loops: 1) { port in
            try await onThread {
                let slow = try RawClient(port: port)
                defer { slow.close() }
                try slow.send("PUT /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
                let fast = try RawClient(port: port)
                defer { fast.close() }
                try fast.send("GET /fast HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try fast.readAnswer().hasSuffix("GET /fast []"))
                try slow.send("cde")
                #expect(try slow.readAnswer().hasSuffix("PUT /slow [abcde]"))
            }
        }
    }
}
