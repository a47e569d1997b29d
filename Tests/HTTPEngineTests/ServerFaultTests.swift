import Expectations
import Testing
import Wire

@testable import HTTPEngine

/// What a client receives when a response asks for a fault.
@Suite(.timeLimit(.minutes(15))) struct ServerFaultTests {
    /// A handler that answers every path except `/plain` with this transmission.
    private func handler(_ transmission: Transmission) -> StubHandler {
        StubHandler(respond: { request in
            var response = Response.text("0123456789")
            if request.path != "/plain" { response.transmission = transmission }
            return .ready(response)
        })
    }

    /// Everything a client receives that sends the text and reads to the end.
    private func answer(to text: String, over way: Way, _ transmission: Transmission) async throws -> String {
        try await answers(to: text, handler(transmission), over: way)
    }

    private let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    private let getPlain = "GET /plain HTTP/1.1\r\nHost: a\r\n\r\n"
    private let getLast = "GET /plain HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    @Test(arguments: Way.allCases) func `A reset breaks the connection instead of an answer`(way: Way) async throws {
        await #expect(throws: RawClientError.broken) {
            try await answer(to: get, over: way, Transmission(fault: .reset))
        }
    }

    @Test(arguments: Way.allCases) func `An empty reply closes in good order without a byte`(way: Way) async throws {
        expectEmpty(try await answer(to: get, over: way, Transmission(fault: .empty)))
    }

    @Test(arguments: Way.allCases)
    func `Garbage is no answer, and the connection closes behind it`(way: Way) async throws {
        let received = try await withClient(handler(Transmission(fault: .garbage)), over: way) { [get] client in
            try client.send(get)
            return try client.readBytesToEnd()
        }
        expect(received.count, above: 64)
        expectEmpty(received.filter { $0 < 0x80 })
    }

    @Test(arguments: [(0, ""), (4, "0123"), (10, "0123456789"), (11, "0123456789"), (-1, "")], Way.allCases)
    func `A truncated answer announces its whole content and ends early`(
        bounds: (bytes: Int, content: String), way: Way
    ) async throws {
        let text = try await answer(to: get, over: way, Transmission(fault: .truncated(bytes: bounds.bytes)))
        expect(text, contains: "Content-Length: 10\r\n")
        expect(text, ends: "\r\n\r\n" + bounds.content)
    }

    @Test(arguments: Way.allCases)
    func `A truncated answer to HEAD loses nothing, since it has no content`(way: Way) async throws {
        let head = "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"
        let text = try await answer(to: head, over: way, Transmission(fault: .truncated(bytes: 2)))
        expect(text, begins: "HTTP/1.1 200 OK\r\n")
        expect(text, ends: "Content-Length: 10\r\n\r\n")
    }

    @Test(arguments: Way.allCases) func `What was answered before a fault arrives whole`(way: Way) async throws {
        let text = try await answer(to: getPlain + get + getPlain, over: way, Transmission(fault: .empty))
        expect(text.components(separatedBy: "HTTP/1.1 200 OK").count, is: 2)
        expect(text, ends: "0123456789")
    }

    @Test func `A reset behind an answer breaks the connection, too`() async throws {
        try await withClient(handler(Transmission(fault: .reset))) { [get, getPlain] client in
            try client.send(getPlain)
            expect(try client.readAnswer(), ends: "0123456789")
            try client.send(getPlain + get + getPlain)
            expect(throws: RawClientError.broken) { while true { _ = try client.readAnswer() } }
        }
    }

    @Test(arguments: Way.allCases)
    func `A delayed answer comes whole, in its order, and the connection goes on`(way: Way) async throws {
        let text = try await answer(to: getPlain + get + getLast, over: way, Transmission(delay: .milliseconds(20)))
        expect(text.components(separatedBy: "\r\n\r\n0123456789").count, is: 4)
    }

    @Test func `A delay keeps nobody else waiting, and a stop cuts it short`() async throws {
        let (server, port) = try startServer(handler(Transmission(delay: .seconds(3600))), loops: 1)
        let delayed = try await onThread { [get, getPlain] in
            let delayed = try RawClient(port: port)
            // The plain answer shows that the server has also read the request after it.
            try delayed.send(getPlain + get)
            _ = try delayed.readAnswer()
            let other = try RawClient(port: port)
            defer { other.close() }
            try other.send(getPlain)
            expect(try other.readAnswer(), ends: "0123456789")
            return delayed
        }
        defer { delayed.close() }
        async let stop: Void = server.stop(within: .seconds(30))
        let text = try await onThread { try delayed.readToEnd() }
        expect(text, ends: "0123456789")
        expect(text, contains: "Connection: close\r\n")
        await stop
    }

    @Test(arguments: [(false, 1), (true, 2)])
    func `A client that ends its side or breaks off while its answer is kept back gives way to others`(
        breaksOff: Bool, loops: Int
    ) async throws {
        let handler = handler(Transmission(delay: .seconds(3600)))
        try await withServer(handler, limits: .with { $0.maximumConnections = 1 }, loops: loops) { port in
            try await onThread { [get, getPlain] in
                let gone = try RawClient(port: port)
                try gone.send(get)
                if breaksOff { gone.reset() } else { gone.close() }
                let next = try RawClient(port: port)
                defer { next.close() }
                try next.send(getPlain)
                expect(try next.readAnswer(), ends: "0123456789")
            }
        }
    }

    @Test(arguments: [1, 7, 100_000, 0], Way.allCases)
    func `A dripped answer arrives whole, whatever the portions are`(bytes: Int, way: Way) async throws {
        let fault = Transmission.Fault.drip(bytes: bytes, every: .microseconds(100))
        let text = try await answer(to: get + getLast, over: way, Transmission(fault: fault))
        expect(text.components(separatedBy: "\r\n\r\n0123456789").count, is: 3)
    }

    @Test func `A stop sends what is left of a dripped answer at once`() async throws {
        let fault = Transmission.Fault.drip(bytes: 20, every: .seconds(3600))
        let (server, port) = try startServer(handler(Transmission(fault: fault)), loops: 1)
        let client = try await onThread { [get] in
            let client = try RawClient(port: port)
            try client.send(get)
            expect(try client.read(until: "\r\nC"), is: "HTTP/1.1 200 OK\r\nC")
            return client
        }
        defer { client.close() }
        async let stop: Void = server.stop(within: .seconds(30))
        expect(try await onThread { try client.readToEnd() }, ends: "0123456789")
        await stop
    }

    @Test(arguments: Way.allCases) func `A delayed fault happens after the delay`(way: Way) async throws {
        let transmission = Transmission(delay: .milliseconds(10), fault: .truncated(bytes: 1))
        expect(try await answer(to: get, over: way, transmission), ends: "\r\n\r\n0")
    }
}
