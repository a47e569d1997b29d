import Synchronization
import Testing
import Wire

@testable import HTTPEngine

/// What the engine tells an operator about clients that never get as far as a request.
@Suite(.timeLimit(.minutes(15))) struct ServerNoteTests {
    /// A handler that records the notes.
    private final class Notebook: RequestHandler {
        private let state = Mutex<[EngineNote]>([])

        var notes: [String] { state.withLock { $0.map(\.description) } }

        func admit(_ head: Request) -> Admission { Admission(bodyLimit: 1024, answer: answer) }
        func answer(_ request: Request) -> Answer { .ready(.text("fine")) }
        func noted(_ note: EngineNote) { state.withLock { $0.append(note) } }
    }

    /// The notes about a client that does this to a server with this kind of listener.
    private func notes(
        _ way: Way, limits: Limits = Limits(), _ body: @escaping @Sendable (RawClient) throws -> Void
    ) async throws -> [String] {
        let notebook = Notebook()
        let server = try Server(
            ServerConfiguration(listeners: [way.listener()], loops: 1, limits: limits), handler: notebook)
        server.start()
        let port = server.addresses[0].port
        do {
            // Always without TLS: clients that speak TLS properly are not noted.
            try await onThread {
                let client = try RawClient(port: port)
                defer { client.close() }
                try body(client)
            }
        } catch {
            await server.stop(within: .zero)
            throw error
        }
        await server.stop(within: .zero)
        return notebook.notes
    }

    @Test func `A refusal is noted with the rule that was broken`() async throws {
        let notes = try await notes(.clear) { client in
            try client.send("GET / HTTP/1.1\nHost: a\r\n\r\n")
            _ = try client.readToEnd()
        }
        #expect(notes == ["400 to 127.0.0.1: a line ends in LF without CR (RFC 9112 section 2.2)"])
    }

    @Test func `A request in the clear at the port for https is noted`() async throws {
        let notes = try await notes(.secure) { client in
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.readToEnd().hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        }
        #expect(notes == ["400 to 127.0.0.1: a request in the clear came to the port for https"])
    }

    @Test func `A handshake that does not end in time ends the connection, and is noted`() async throws {
        var limits = Limits()
        limits.handshake = .milliseconds(30)
        let notes = try await notes(.secure, limits: limits) { client in
            try client.send([0x16, 0x03, 0x01])
            #expect(try client.readBytesToEnd().isEmpty)
        }
        #expect(notes == ["TLS handshake with 127.0.0.1 failed: it took too long"])
    }

    @Test func `A client that connects to the port for https and sends nothing ends in time, without a note`()
        async throws
    {
        var limits = Limits()
        limits.handshake = .milliseconds(30)
        let notes = try await notes(.secure, limits: limits) { client throws in
            #expect(try client.readBytesToEnd().isEmpty)
        }
        #expect(notes.isEmpty)
    }

    @Test func `A client that leaves in the middle of a handshake is noted`() async throws {
        let notes = try await notes(.secure) { client in
            try client.send([0x16, 0x03, 0x01])
            client.finishSending()
            _ = try client.readBytesToEnd()
        }
        #expect(notes == ["TLS handshake with 127.0.0.1 failed: the client closed the connection during the handshake"])
    }

    @Test func `A client that breaks off in the middle of a handshake is noted`() async throws {
        let notebook = Notebook()
        let server = try Server(
            ServerConfiguration(listeners: [Way.secure.listener()], loops: 1), handler: notebook)
        server.start()
        let port = server.addresses[0].port
        try await onThread {
            let client = try RawClient(port: port)
            try client.send([0x16, 0x03, 0x01])
            client.reset()
            // A second client is served after the first one ends.
            let next = try RawClient(port: port, over: .secure)
            defer { next.close() }
            try next.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try next.readAnswer().hasSuffix("fine"))
        }
        await server.stop(within: .zero)
        #expect(notebook.notes.count == 1)
        #expect(notebook.notes.allSatisfy { $0.hasPrefix("TLS handshake with 127.0.0.1 failed: the client ") })
    }

    @Test func `A TLS handshake at the port for http is noted`() async throws {
        let notes = try await notes(.clear) { client in
            try client.send([0x16, 0x03, 0x01])
            _ = try client.readToEnd()
        }
        #expect(notes == ["400 to 127.0.0.1: a TLS handshake came to the port for http"])
    }

    @Test func `What is no handshake at the port for https ends at once, and is noted`() async throws {
        let notes = try await notes(.secure) { client in
            try client.send([0x00, 0x01, 0x02])
            #expect(try client.readBytesToEnd().isEmpty)
        }
        #expect(notes == ["TLS handshake with 127.0.0.1 failed: the client does not speak TLS"])
    }
}
