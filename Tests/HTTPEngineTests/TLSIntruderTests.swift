import Testing

@testable import HTTPEngine

/// Clients that do not speak TLS, or not with our server.
@Suite(.timeLimit(.minutes(15))) struct TLSIntruderTests {
    @Test(arguments: ["GET / HTTP/1.1\r\n\r\n", "p", "Z"])
    func `A client that speaks HTTP by mistake can be told so in the clear`(text: String) throws {
        let (transport, server, client) = try ends()
        defer { client.close() }
        client.send(Array(text.utf8))
        waitFor(server, [.reading])
        #expect(read(transport) == "broken")
        #expect(transport.hasFallenBack)
        // There is no handshake left to wait for.
        #expect(transport.isEstablished)
        #expect(transport.needs == [])
        #expect(transport.handshakeProblem == "the client speaks HTTP without TLS")
        #expect(read(transport) == "broken")
        #expect(transport.send("HTTP/1.1 400 Bad Request\r\n\r\n") == "moved 28")
        #expect(transport.finishWriting())
        // The client's bytes are still unread.
        waitFor(server, [.reading])
        #expect(drain(transport) == "moved \(text.utf8.count)")
        transport.close()
        waitFor(client, [.reading])
        #expect(receive(client) == "HTTP/1.1 400 Bad Request\r\n\r\n")
    }

    @Test(arguments: [[0x00], [0x15, 0x03, 0x01], [0xFF], [0x0D, 0x0A], [0x80, 0x2E, 0x01], [0x20]] as [[UInt8]])
    func `What is neither TLS nor HTTP breaks the connection`(bytes: [UInt8]) throws {
        let (transport, server, client) = try ends()
        defer { client.close() }
        client.send(bytes)
        waitFor(server, [.reading])
        #expect(read(transport) == "broken")
        #expect(!transport.hasFallenBack)
        #expect(transport.handshakeProblem == "the client does not speak TLS")
        #expect(transport.send("x") == "broken")
        transport.close()
    }

    @Test(
        arguments: [
            // OpenSSL sends no alert for an unknown version.
            ([0x16, 0x09, 0x09, 0x00, 0x05, 1, 2, 3, 4, 5], nil), ([0x16, 0x03, 0x01, 0xFF, 0xFF, 1, 0, 0, 5], 0x15),
            ([0x16, 0x03, 0x01, 0x00, 0x04, 1, 0, 0, 0], 0x15), ([0x16, 0x03, 0x01, 0x00, 0x05, 2, 0, 0, 1, 0], 0x15),
        ] as [([UInt8], UInt8?)])
    func `What only begins like a handshake is refused, by an alert if there is one`(
        bytes: [UInt8], answer: UInt8?
    ) throws {
        let (transport, server, client) = try ends()
        defer { client.close() }
        client.send(bytes)
        waitFor(server, [.reading])
        #expect(read(transport) == "broken")
        #expect(transport.handshakeProblem?.isEmpty == false)
        #expect(!transport.hasFallenBack)
        #expect(transport.finishWriting())
        transport.close()
        waitFor(client, [.reading])
        #expect(receive(client).utf8.first == answer)
    }

    @Test func `A client that comes and goes is an end and no problem`() throws {
        let (transport, server, client) = try ends()
        #expect(read(transport) == "would block")
        client.close()
        waitFor(server, [.reading])
        #expect(read(transport) == "ended")
        #expect(transport.handshakeProblem == nil)
        transport.close()
    }

    @Test(arguments: [
        (["localhost"], "other.test", "it is for another host"), (["127.0.0.1"], "127.0.0.2", "it is for another host"),
        (["localhost"], "127.0.0.1", "it is for another host"), (["*.a.test"], "b.c.a.test", "it is for another host"),
    ])
    func `A client takes no certificate of another host, and the server's log says so`(
        names: [String], host: String, reason: String
    ) throws {
        let pair = try TLSPair(TestAuthority.identity(names), TestAuthority.trust(), host: host)
        #expect(pair.shakeHands().client == .failed)
        #expect(pair.client.distrust == reason)
        #expect(
            pair.server.handshakeProblem == "the client gave up: it refused the certificate (bad certificate)")
    }

    @Test(arguments: [
        (["localhost"], "localhost"), (["localhost"], "LOCALHOST."), (["127.0.0.1"], "127.0.0.1"),
        (["::1"], "0:0:0:0:0:0:0:1"), (["*.a.test"], "b.a.test"), (["my_machine", "x"], "my_machine"),
    ])
    func `A client takes the certificate of its host`(names: [String], host: String) throws {
        let pair = try TLSPair(TestAuthority.identity(names), TestAuthority.trust(), host: host)
        #expect(pair.shakeHands().client == .complete)
        #expect(pair.client.distrust == nil)
    }

    @Test func `A client takes no certificate of an unknown authority`() throws {
        let stranger = try CertificateAuthority()
        let issue = try stranger.issue(for: ["localhost"])
        let identity = try TLSIdentity(certificateChain: issue.certificateChain, privateKey: issue.privateKey)
        for trust in [try TestAuthority.trust(), .system] {
            let pair = try TLSPair(identity, trust)
            #expect(pair.shakeHands().client == .failed)
            #expect(pair.client.distrust == "unable to get local issuer certificate")
            #expect(pair.server.handshakeProblem == "the client gave up: it refused the certificate (unknown CA)")
        }
    }

    @Test(arguments: [(-200, -100, "certificate has expired"), (100, 200, "certificate is not yet valid")])
    func `A client takes no certificate out of its time`(from: Int, to: Int, reason: String) throws {
        let now = OperatingSystem.unixTime
        let issue = try TestAuthority.shared.get().issue(for: ["localhost"], validity: (now + from)..<(now + to))
        let identity = try TLSIdentity(certificateChain: issue.certificateChain, privateKey: issue.privateKey)
        let pair = try TLSPair(identity, TestAuthority.trust())
        #expect(pair.shakeHands().client == .failed)
        #expect(pair.client.distrust == reason)
    }

    private func ends() throws -> (Transport, Socket, Socket) {
        let (server, client) = try connectedSockets()
        return (try #require(Transport(server, identity: TestAuthority.identity())), server, client)
    }

    private func read(_ transport: Transport) -> String { use { transport.read(into: $0).text } }

    private func drain(_ transport: Transport) -> String { use { transport.drain(into: $0).text } }

    private func receive(_ socket: Socket) -> String {
        use { buffer in
            guard case .moved(let count) = socket.read(into: buffer) else { return "" }
            return String(decoding: buffer[..<count], as: UTF8.self)
        }
    }

    private func use(_ body: (UnsafeMutableRawBufferPointer) -> String) -> String {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
        defer { buffer.deallocate() }
        return body(buffer)
    }
}
