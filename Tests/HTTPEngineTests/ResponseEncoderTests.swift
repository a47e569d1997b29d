import Expectations
import HTTPTypes
import Mutations
import Testing
import Wire

@testable import HTTPEngine

@Suite struct ResponseEncoderTests {
    private func encode(
        _ response: Response, _ exchange: ResponseEncoder.Framing = .init()
    ) -> (text: String, persists: Bool) {
        var encoder = ResponseEncoder()
        encoder.setDate(unixTime: 784_111_777)
        var output: [UInt8] = []
        let persists = encoder.encode(response, for: exchange, into: &output)
        return (String(decoding: output, as: UTF8.self), persists)
    }

    private let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

    @Test func `A response is its status, its fields, what framing needs, and its content`() {
        let (text, persists) = encode(Response(status: .created, fields: [.location: "/a"], body: Array("abc".utf8)))
        expect(text, is: "HTTP/1.1 201 Created\r\nLocation: /a\r\n\(date)Content-Length: 3\r\n\r\nabc")
        expect(persists, is: true)
    }

    @Test func `An answer to HEAD has the length of the content and no content`() {
        let (text, _) = encode(Response(status: .ok, body: Array("abc".utf8)), .init(isHead: true))
        expect(text, is: "HTTP/1.1 200 OK\r\n\(date)Content-Length: 3\r\n\r\n")
    }

    @Test(arguments: [204, 304, 101]) func `A status that has no content gets neither content nor length`(code: Int) {
        let (text, _) = encode(Response(status: .init(code: code, reasonPhrase: "R"), body: [1, 2, 3]))
        let close = code < 200 ? "Connection: close\r\n" : ""
        expect(text, is: "HTTP/1.1 \(code) R\r\n\(date)\(close)\r\n")
    }

    @Test func `The last answer of a connection says so`() {
        let (text, persists) = encode(Response(status: .ok), .init(persists: false))
        expect(text, contains: "\r\nConnection: close\r\n")
        expect(persists, is: false)
    }

    @Test func `A client of version 1-0 is told that the connection goes on`() {
        expect(encode(Response(status: .ok), .init(version: .http1_0)).text, contains: "Connection: keep-alive\r\n")
        expect(encode(Response(status: .ok)).text, lacks: "Connection")
    }

    @Test func `Who is idle for less than two seconds is not told so`() {
        var output: [UInt8] = []
        _ = ResponseEncoder(idle: .milliseconds(1999)).encode(
            Response(status: .ok), for: .init(asksToPersist: true), into: &output)
        expect(String(decoding: output, as: UTF8.self), lacks: "Keep-Alive")
    }

    @Test func `A handler can have the connection closed`() {
        let (text, persists) = encode(Response(status: .ok, fields: [.connection: "Close"]))
        expect(persists, is: false)
        expect(text.components(of: "Connection:"), is: 1)
    }

    @Test func `Framing fields of a handler are replaced by the true ones`() {
        let fields: HTTPFields = [.contentLength: "99", .transferEncoding: "chunked", .connection: "upgrade"]
        let (text, _) = encode(Response(status: .ok, fields: fields, body: [0x61]))
        expect(text, is: "HTTP/1.1 200 OK\r\n\(date)Content-Length: 1\r\n\r\na")
    }

    @Test func `A handler may set the date`() {
        let (text, _) = encode(Response(status: .ok, fields: [.date: "then"]))
        expect(text, is: "HTTP/1.1 200 OK\r\nDate: then\r\nContent-Length: 0\r\n\r\n")
    }

    @Test func `An answer of another time has that time, unless the handler sets the field`() {
        var response = Response(status: .ok)
        response.date = 1_709_251_199
        expect(
            encode(response).text,
            is: "HTTP/1.1 200 OK\r\nDate: Thu, 29 Feb 2024 23:59:59 GMT\r\nContent-Length: 0\r\n\r\n")
        response.fields[.date] = "then"
        expect(encode(response).text, is: "HTTP/1.1 200 OK\r\nDate: then\r\nContent-Length: 0\r\n\r\n")
    }

    @Test(arguments: ["a\r\nX: b", "a\nX: b", "a\rX: b", "a\0b", "\r\n\r\nHTTP/1.1 200 OK"])
    func `No value and no reason can split a response`(value: String) {
        let status = HTTPResponse.Status(code: 299, reasonPhrase: value)
        let fields = HTTPFields([HTTPField(name: .server, value: value)])
        let lenient = HTTPFields([HTTPField(name: .server, lenientValue: Array(value.utf8))])
        for response in [Response(status: status, fields: fields), Response(status: status, fields: lenient)] {
            let text = encode(response).text
            expect(text.components(of: "\n"), is: 5)
            expect(text.components(of: "\r"), is: 5)
            expect(text, lacks: "\0")
        }
    }

    @Test(arguments: [(0, "000"), (7, "007"), (42, "042"), (999, "999")])
    func `A status always has three digits`(code: Int, digits: String) {
        expect(encode(Response(status: .init(code: code))).text, begins: "HTTP/1.1 \(digits) \r\n")
    }

    @Test(arguments: RequestRejection.allCases.filter { $0 != .overfull })
    func `A refusal is a complete answer without content that ends the connection`(refusal: RequestRejection) {
        var encoder = ResponseEncoder()
        encoder.setDate(unixTime: 784_111_777)
        var output: [UInt8] = []
        encoder.encode(refusal, into: &output)
        let line = "HTTP/1.1 \(refusal.status.code) \(refusal.status.reasonPhrase)\r\n"
        expect(
            String(decoding: output, as: UTF8.self), is: line + date + "Connection: close\r\nContent-Length: 0\r\n\r\n")
    }

    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
        (1_709_251_200, "Fri, 01 Mar 2024 00:00:00 GMT"), (1_735_689_599, "Tue, 31 Dec 2024 23:59:59 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (1_794_700_800, "Sun, 15 Nov 2026 00:00:00 GMT"),
    ])
    func `A date is written as RFC 9110 section 5-6-7 has it`(unixTime: Int, text: String) {
        expect(HTTPDate.text(unixTime: unixTime), is: text)
    }
}

extension String {
    /// The number of occurrences of this text, compared by bytes: CR and LF together are one character.
    fileprivate func components(of text: String) -> Int {
        let (all, part) = (Array(utf8), Array(text.utf8))
        return all.indices.count { all[$0...].starts(with: part) }
    }
}

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite(.timeLimit(.minutes(15))) struct LoopPartsTests {
    @Test func `Timers come up in the order of their moments, and not before`() {
        var random = SeededGenerator(seed: 1)
        var timers = DueHeap<MonotonicTime, Int32>()
        let start = MonotonicTime.now
        for offset in (0..<200).shuffled(using: &random) {
            let moment = start + .milliseconds(offset)
            timers.insert(moment, Int32(offset))
        }
        var order: [Int32] = []
        while let due = timers.removeFirst(until: start + .milliseconds(99)) { order.append(due.value) }
        expect(order, is: Array(0..<100))
        expect(timers.first, is: start + .milliseconds(100))
    }

    @Test(arguments: [(0, 0), (-5, 0), (1, 1), (999_999, 1), (1_000_000, 1), (1_000_001, 2)])
    func `The time to a moment is rounded up to milliseconds`(nanoseconds: Int, milliseconds: Int32) {
        let start = MonotonicTime.now
        expect((start + .nanoseconds(nanoseconds)).milliseconds(since: start), is: milliseconds)
    }

    @Test func `A time-out without end does not overflow`() {
        let start = MonotonicTime.now
        expect((start + .seconds(Int64.max)).milliseconds(since: start), is: .max)
    }

    @Test(arguments: [(SIGTERM, Signals.Termination.terminate), (SIGINT, .interrupt)])
    func `A blocked signal is waited for instead of ending the process`(
        signal: Int32, expected: Signals.Termination
    ) async throws {
        let received = try await onThread {
            Signals.blockTermination()
            // Only to this thread: other tests run in the same process.
            pthread_kill(pthread_self(), signal)
            return Signals.waitForTermination()
        }
        expect(received, is: expected)
    }

    @Test func `Output lets go of what is sent, also when the client never quite catches up`() throws {
        let (server, client) = try connectedSockets(bufferSize: 16 * 1024)
        defer {
            server.close()
            client.close()
        }
        let transport = Transport(server)
        let portion = [UInt8](repeating: 1, count: 64 * 1024)
        var output = OutputBuffer()
        var received = 0
        var buffer = portion
        for _ in 0..<100 {
            output.bytes += portion
            // Bytes that the system does not accept must stay, so that the buffer never drains.
            while output.count > 4 * portion.count {
                _ = output.flush(to: transport)
                waitFor(client, [.reading])
                if case .moved(let count) = buffer.withUnsafeMutableBytes(client.read) { received += count }
            }
            #expect(output.bytes.count <= 16 * portion.count)
        }
        expect(received, above: 80 * portion.count)
    }
}
