import HTTPTypes
import Testing

@testable import HTTPEngine

/// The client over TLS, against a test server that sends exactly what it is told to.
@Suite(.timeLimit(.minutes(15))) struct TLSClientTests {
    @Test(arguments: ["localhost", "127.0.0.1"])
    func `A request goes over TLS and its answer comes back`(host: String) async throws {
        let answer = try await exchange(host: host, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", .bare)
        #expect(answer.body == Array("ab".utf8))
    }

    @Test func `Content without a length ends with close_notify`() async throws {
        let answer = try await exchange("HTTP/1.1 200 OK\r\n\r\nab", .closeNotify)
        #expect(answer.body == Array("ab".utf8))
    }

    @Test func `Content without a length does not end where somebody cut the connection`() async throws {
        await #expect(throws: ClientError.connectionLost) {
            try await exchange("HTTP/1.1 200 OK\r\n\r\nab", .bare)
        }
    }

    @Test func `A large answer arrives whole`() async throws {
        let body = String(repeating: "0123456789abcdef", count: 50_000)
        let answer = try await exchange(
            "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)", .closeNotify)
        #expect(answer.body == Array(body.utf8))
    }

    @Test func `A large request arrives whole`() async throws {
        let body = [UInt8](repeating: 7, count: 3_000_000)
        let answer = try await exchange("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", .closeNotify, body: body)
        #expect(answer.status == .ok)
    }

    @Test func `A server for another host gets no request`() async throws {
        await #expect(throws: ClientError.notTrusted("it is for another host")) {
            try await exchange("", .bare, names: ["other.test"])
        }
    }

    @Test func `A server of an unknown authority gets no request`() async throws {
        await #expect(throws: ClientError.notTrusted("unable to get local issuer certificate")) {
            try await exchange("", .bare, trust: .system)
        }
    }

    @Test func `A server that speaks no TLS is said to`() async throws {
        try await withServer { port in
            _ = await #expect(throws: ClientError.tlsFailed("the server does not speak TLS")) {
                try await HTTPClient.send(url: "https://127.0.0.1:\(port)/", within: .seconds(120))
            }
        }
    }

    @Test func `A server that says nothing is given up in time`() async throws {
        let listener = try ListeningSocket(.init(port: 0))
        await #expect(throws: ClientError.timedOut) {
            try await HTTPClient.send(url: "https://\(listener.address)/", within: .milliseconds(50))
        }
    }

    @Test func `A server that closes during the handshake is said to`() async throws {
        let listener = try ListeningSocket(.init(port: 0))
        async let accepted: Void = onThread {
            waitFor(listener.socket, [.reading])
            guard let socket = listener.socket.accept()?.socket else { return }
            waitFor(socket, [.reading])
            _ = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, _ in
                _ = socket.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
            socket.close()
        }
        await #expect(throws: ClientError.tlsFailed("the server closed the connection during the handshake")) {
            try await HTTPClient.send(url: "https://\(listener.address)/", within: .seconds(120))
        }
        try await accepted
    }

    @Test func `Each refusal is one line that ends in a full stop`() {
        for error in [ClientError.notTrusted("x"), .tlsFailed("y"), .invalidURL("z")] {
            #expect(error.description.hasSuffix("."))
        }
    }

    /// How the server ends the connection after its answer.
    private enum Ending {
        case closeNotify
        /// Only the TCP stream ends.
        case bare
    }

    /// Makes the client send a request to a server that gives one answer.
    @discardableResult private func exchange(
        host: String = "localhost", _ answer: String, _ ending: Ending, body: [UInt8] = [],
        names: [String] = ["localhost", "127.0.0.1"], trust: TLSTrust? = nil
    ) async throws -> ClientResponse {
        let listener = try ListeningSocket(.init(port: 0))
        let identity = try TestAuthority.identity(names)
        async let served: Void = onThread { try serve(listener, identity, answer, ending, body.count) }
        let url = "https://\(host):\(listener.address.port)/path"
        do {
            let response = try await HTTPClient.send(
                method: body.isEmpty ? .get : .post, url: url, body: body,
                trust: trust ?? TestAuthority.trust(), within: .seconds(120))
            try await served
            return response
        } catch {
            try? await served
            throw error
        }
    }

    private func serve(
        _ listener: ListeningSocket, _ identity: TLSIdentity, _ answer: String, _ ending: Ending, _ bodySize: Int
    ) throws {
        waitFor(listener.socket, [.reading])
        let socket = try #require(listener.socket.accept()).socket
        let transport = try #require(Transport(socket, identity: identity))
        defer { transport.close() }
        var request: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while !String(decoding: request.prefix(4096), as: UTF8.self).contains("\r\n\r\n") || request.count < bodySize {
            switch part.withUnsafeMutableBytes(transport.read) {
            case .moved(let count): request += part.prefix(count)
            case .wouldBlock: if !transport.hasBufferedInput { waitFor(socket, [.reading]) }
            case .ended, .broken: return
            }
        }
        var rest = Array(answer.utf8)[...]
        while !rest.isEmpty {
            switch rest.withUnsafeBytes(transport.write) {
            case .moved(let count): rest = rest.dropFirst(count)
            case .wouldBlock: waitFor(socket, [.writing])
            case .ended, .broken: return
            }
        }
        if ending == .bare { socket.shutdownWriting() } else { _ = transport.finishWriting() }
        waitFor(socket, [.reading])
    }
}
