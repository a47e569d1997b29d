import COpenSSL
import Expectations
import Testing

@testable import HTTPEngine

@Suite(.timeLimit(.minutes(15))) struct TLSSessionTests {
    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `A client that comes back resumes its session, and no other identity takes it`(version: Int32) throws {
        let identity = try TestAuthority.identity()
        let trust = try TestAuthority.trust().only(version)
        let first = try TLSPair(identity, trust)
        first.shakeHands()
        // TLS 1.3 sends tickets after the handshake.
        expect(first.server.send("x"), is: "moved 1")
        expect(first.readAtClient(until: "x"), is: "x")
        let session = try #require(first.client.ask { SSL_get1_session($0) } ?? nil)
        defer { SSL_SESSION_free(session) }
        let second = try TLSPair(identity, trust)
        _ = second.client.ask { SSL_set_session($0, session) }
        expect(second.shakeHands().client, is: .complete)
        expect(second.client.ask(SSL_session_reused), is: 1)
        let stranger = try TLSPair(TestAuthority.identity(), trust)
        _ = stranger.client.ask { SSL_set_session($0, session) }
        expect(stranger.shakeHands().client, is: .complete)
        expect(stranger.client.ask(SSL_session_reused), is: 0)
    }

    @Test func `A client's wish to renegotiate is refused by an alert, and the server's side lives on`() throws {
        let pair = try TLSPair.connected(TLS1_2_VERSION)
        _ = pair.client.ask { SSL_clear_options($0, COpenSSL_OP_NO_RENEGOTIATION) }
        expect(pair.client.ask(SSL_renegotiate), is: 1)
        expect(pair.client.shakeHands(), is: .waiting)
        waitFor(pair.serverSocket, [.reading])
        expect(pair.readAtServer().transfer.text, is: "would block")
        waitFor(pair.clientSocket, [.reading])
        expect(pair.client.shakeHands(), is: .failed)
        expect(pair.server.send("x"), is: "moved 1")
    }

    @Test func `New keys are taken on when the client asks for them`() throws {
        let pair = try TLSPair.connected(TLS1_3_VERSION)
        for _ in 0..<3 {
            expect(pair.client.ask { SSL_key_update($0, SSL_KEY_UPDATE_REQUESTED) }, is: 1)
            expect(pair.client.send("a"), is: "moved 1")
            expect(pair.readAtServer(until: "a"), is: "a")
            expect(pair.server.isEstablished, is: true)
            expect(pair.server.send("b"), is: "moved 1")
            expect(pair.readAtClient(until: "b"), is: "b")
            expect(pair.server.needs, is: [])
        }
    }

    @Test func `Errors that others left on the thread do not end a connection`() throws {
        let pair = try TLSPair.connected()
        #expect(Certificate(der: [1, 2, 3]) == nil)
        _ = d2i_X509(nil, nil, 0)
        let noise: [UInt8] = [1, 2, 3]
        noise.withUnsafeBufferPointer {
            var start = $0.baseAddress
            _ = d2i_X509(nil, &start, 3)
        }
        #expect(ERR_peek_error() != 0)
        expect(pair.readAtServer().transfer.text, is: "would block")
        expect(pair.server.send("x"), is: "moved 1")
    }

    @Test func `A client that has gone gives a broken connection and no signal`() throws {
        let pair = try TLSPair.connected()
        pair.client.discardUnsent()
        pair.client.close()
        waitFor(pair.serverSocket, [.reading])
        expect(pair.readAtServer().transfer.text, is: "broken")
        expect(pair.server.send("x"), is: "broken")
        expect(pair.server.finishWriting(), is: true)
    }

    @Test func `A write that waits needs nothing of a read`() throws {
        let pair = try TLSPair.connected(bufferSize: 4096)
        let bytes = [UInt8](repeating: 1, count: 1 << 20)
        var rest = bytes[...]
        while case .moved(let count) = rest.withUnsafeBytes(pair.server.write) { rest = rest.dropFirst(count) }
        expect(rest.isEmpty, is: false)
        expect(pair.server.needs, is: [])
    }

    @Test func `Behind the own end nothing is buffered and nothing needed`() throws {
        let pair = try TLSPair.connected()
        expect(pair.client.send("x"), is: "moved 1")
        // One read returns the client's close_notify together with its content.
        _ = pair.client.finishWriting()
        waitFor(pair.serverSocket, [.reading])
        expect(pair.readAtServer().text, is: "x")
        expect(pair.server.hasBufferedInput, is: true)
        expect(pair.server.finishWriting(), is: true)
        expect(pair.server.hasBufferedInput, is: false)
        expect(pair.server.needs, is: [])
    }
}

/// Clients that do not speak TLS, or not with our server.
@Suite(.timeLimit(.minutes(15))) struct TLSIntruderTests {
    @Test(arguments: ["GET / HTTP/1.1\r\n\r\n", "p", "Z"])
    func `A client that speaks HTTP by mistake can be told so in the clear`(text: String) throws {
        let (transport, server, client) = try ends()
        defer { client.close() }
        client.send(Array(text.utf8))
        waitFor(server, [.reading])
        expect(read(transport), is: "broken")
        expect(transport.hasFallenBack, is: true)
        // There is no handshake left to wait for.
        expect(transport.isEstablished, is: true)
        expect(transport.needs, is: [])
        expect(transport.handshakeProblem, is: "the client speaks HTTP without TLS")
        expect(read(transport), is: "broken")
        expect(transport.send("HTTP/1.1 400 Bad Request\r\n\r\n"), is: "moved 28")
        expect(transport.finishWriting(), is: true)
        // The client's bytes are still unread.
        waitFor(server, [.reading])
        expect(drain(transport), is: "moved \(text.utf8.count)")
        transport.close()
        waitFor(client, [.reading])
        expect(String(decoding: client.takeAll(), as: UTF8.self), is: "HTTP/1.1 400 Bad Request\r\n\r\n")
    }

    @Test(arguments: [[0x00], [0x15, 0x03, 0x01], [0xFF], [0x0D, 0x0A], [0x80, 0x2E, 0x01], [0x20]] as [[UInt8]])
    func `What is neither TLS nor HTTP breaks the connection`(bytes: [UInt8]) throws {
        let (transport, server, client) = try ends()
        defer { client.close() }
        client.send(bytes)
        waitFor(server, [.reading])
        expect(read(transport), is: "broken")
        expect(transport.hasFallenBack, is: false)
        expect(transport.handshakeProblem, is: "the client does not speak TLS")
        expect(transport.send("x"), is: "broken")
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
        expect(read(transport), is: "broken")
        expect(transport.handshakeProblem?.isEmpty, is: false)
        expect(transport.hasFallenBack, is: false)
        expect(transport.finishWriting(), is: true)
        transport.close()
        waitFor(client, [.reading])
        expect(client.takeAll().first, is: answer)
    }

    @Test func `A client that comes and goes is an end and no problem`() throws {
        let (transport, server, client) = try ends()
        expect(read(transport), is: "would block")
        client.close()
        waitFor(server, [.reading])
        expect(read(transport), is: "ended")
        expect(transport.handshakeProblem, is: nil)
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
        expect(pair.shakeHands().client, is: .failed)
        expect(pair.client.distrust, is: reason)
        expect(pair.server.handshakeProblem, is: "the client gave up: it refused the certificate (bad certificate)")
    }

    @Test(arguments: [
        (["localhost"], "localhost"), (["localhost"], "LOCALHOST."), (["127.0.0.1"], "127.0.0.1"),
        (["::1"], "0:0:0:0:0:0:0:1"), (["*.a.test"], "b.a.test"), (["my_machine", "x"], "my_machine"),
    ])
    func `A client takes the certificate of its host`(names: [String], host: String) throws {
        let pair = try TLSPair(TestAuthority.identity(names), TestAuthority.trust(), host: host)
        expect(pair.shakeHands().client, is: .complete)
        expect(pair.client.distrust, is: nil)
    }

    @Test func `A client takes no certificate of an unknown authority`() throws {
        let stranger = try CertificateAuthority()
        let issue = try stranger.issue(for: ["localhost"])
        let identity = try TLSIdentity(certificateChain: issue.certificateChain, privateKey: issue.privateKey)
        for trust in [try TestAuthority.trust(), .system] {
            let pair = try TLSPair(identity, trust)
            expect(pair.shakeHands().client, is: .failed)
            expect(pair.client.distrust, is: "unable to get local issuer certificate")
            expect(pair.server.handshakeProblem, is: "the client gave up: it refused the certificate (unknown CA)")
        }
    }

    @Test(arguments: [(-200, -100, "certificate has expired"), (100, 200, "certificate is not yet valid")])
    func `A client takes no certificate out of its time`(from: Int, to: Int, reason: String) throws {
        let now = OperatingSystem.unixTime
        let issue = try TestAuthority.shared.get().issue(for: ["localhost"], validity: (now + from)..<(now + to))
        let identity = try TLSIdentity(certificateChain: issue.certificateChain, privateKey: issue.privateKey)
        let pair = try TLSPair(identity, TestAuthority.trust())
        expect(pair.shakeHands().client, is: .failed)
        expect(pair.client.distrust, is: reason)
    }

    private func ends() throws -> (Transport, Socket, Socket) {
        let (server, client) = try connectedSockets()
        return (try #require(Transport(server, identity: TestAuthority.identity())), server, client)
    }

    private func read(_ transport: Transport) -> String { use { transport.read(into: $0).text } }

    private func drain(_ transport: Transport) -> String { use { transport.drain(into: $0).text } }

    private func use(_ body: (UnsafeMutableRawBufferPointer) -> String) -> String {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
        defer { buffer.deallocate() }
        return body(buffer)
    }
}
