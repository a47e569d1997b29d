import COpenSSL
import Testing

@testable import HTTPEngine

@Suite(.timeLimit(.minutes(15))) struct TLSSessionTests {
    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `Both versions carry a request and its answer`(version: Int32) throws {
        let pair = try TLSPair(TestAuthority.identity(), TestAuthority.trust().only(version))
        #expect(!pair.server.isEstablished)
        let outcome = pair.shakeHands()
        #expect(outcome.client == .complete)
        #expect(outcome.server.text == "would block")
        #expect(pair.server.isEstablished)
        #expect(pair.client.version == version)
        #expect(pair.client.send("GET / HTTP/1.1\r\n\r\n") == "moved 18")
        #expect(pair.readAtServer(until: "\r\n\r\n") == "GET / HTTP/1.1\r\n\r\n")
        #expect(pair.server.send("HTTP/1.1 200 OK\r\n\r\n") == "moved 19")
        #expect(pair.readAtClient(until: "\r\n\r\n") == "HTTP/1.1 200 OK\r\n\r\n")
        #expect(pair.server.needs == [])
        #expect(!pair.server.hasBufferedInput)
        #expect(pair.server.handshakeProblem == nil)
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `A client that comes back resumes its session, and no other identity takes it`(version: Int32) throws {
        let identity = try TestAuthority.identity()
        let trust = try TestAuthority.trust().only(version)
        let first = try TLSPair(identity, trust)
        first.shakeHands()
        // TLS 1.3 sends tickets after the handshake.
        #expect(first.server.send("x") == "moved 1")
        #expect(first.readAtClient(until: "x") == "x")
        let session = try #require(first.client.ask { SSL_get1_session($0) } ?? nil)
        defer { SSL_SESSION_free(session) }
        let second = try TLSPair(identity, trust)
        _ = second.client.ask { SSL_set_session($0, session) }
        #expect(second.shakeHands().client == .complete)
        #expect(second.client.ask(SSL_session_reused) == 1)
        let stranger = try TLSPair(TestAuthority.identity(), trust)
        _ = stranger.client.ask { SSL_set_session($0, session) }
        #expect(stranger.shakeHands().client == .complete)
        #expect(stranger.client.ask(SSL_session_reused) == 0)
    }

    @Test(arguments: [
        ([], ""), (["http/1.1"], "http/1.1"), (["h2", "http/1.1"], "http/1.1"), (["http/1.0", "http/1.1"], "http/1.1"),
        (["h2", "http/1.0"], "http/1.0"),
    ])
    func `http/1.1 is chosen when it is offered, else http/1.0, and no offer is fine`(
        offer: [String], expected: String
    ) throws {
        let trust = try TestAuthority.trust()
        let pair = try TLSPair(TestAuthority.identity(), offer.isEmpty ? trust : trust.offering(offer))
        #expect(pair.shakeHands().client == .complete)
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        _ = pair.client.ask { SSL_get0_alpn_selected($0, &name, &count) }
        let chosen = String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
        #expect(chosen == expected)
    }

    @Test(arguments: [["h2"], ["http/0.9", "http/1.1x", "ttp/1.1"]])
    func `An offer without either is refused by the alert for that`(offer: [String]) throws {
        let pair = try TLSPair(TestAuthority.identity(), TestAuthority.trust().offering(offer))
        let outcome = pair.shakeHands()
        #expect(outcome.client == .failed)
        #expect(outcome.server.text == "broken")
        #expect(pair.client.handshakeProblem == "the server gave up: no application protocol")
        #expect(
            pair.server.handshakeProblem == "no shared protocol (ALPN): the client does not offer http/1.1")
    }

    @Test(arguments: [(TLS1_VERSION, "TLS 1.0"), (TLS1_1_VERSION, "TLS 1.1")])
    func `An older version is refused, and the log says which`(version: Int32, name: String) throws {
        let pair = try TLSPair(TestAuthority.identity(), TestAuthority.trust().only(version))
        let outcome = pair.shakeHands()
        #expect(outcome.client == .failed)
        #expect(outcome.server.text == "broken")
        #expect(
            pair.server.handshakeProblem
                == "no shared version: the client offers at most \(name), needed is TLS 1.2 or 1.3")
        #expect(!pair.server.hasFallenBack)
    }

    @Test func `Suites without forward secrecy are not shared`() throws {
        let trust = try TestAuthority.trust().only(TLS1_2_VERSION)
        _ = trust.context.map { SSL_CTX_set_cipher_list($0.pointer, "ECDHE+AES+SHA256:AES128-GCM-SHA256") }
        let pair = try TLSPair(TestAuthority.identity(), trust)
        #expect(pair.shakeHands().client == .failed)
        #expect(pair.server.handshakeProblem == "no shared cipher suite")
    }

    @Test func `A client's wish to renegotiate is refused by an alert, and the server's side lives on`() throws {
        let pair = try TLSPair(TestAuthority.identity(), TestAuthority.trust().only(TLS1_2_VERSION))
        pair.shakeHands()
        _ = pair.client.ask { SSL_clear_options($0, COpenSSL_OP_NO_RENEGOTIATION) }
        #expect(pair.client.ask(SSL_renegotiate) == 1)
        #expect(pair.client.shakeHands() == .waiting)
        waitFor(pair.serverSocket, [.reading])
        #expect(pair.readAtServer().transfer.text == "would block")
        waitFor(pair.clientSocket, [.reading])
        #expect(pair.client.shakeHands() == .failed)
        #expect(pair.server.send("x") == "moved 1")
    }

    @Test func `New keys are taken on when the client asks for them`() throws {
        let pair = try TLSPair(TestAuthority.identity(), TestAuthority.trust().only(TLS1_3_VERSION))
        pair.shakeHands()
        for _ in 0..<3 {
            #expect(pair.client.ask { SSL_key_update($0, SSL_KEY_UPDATE_REQUESTED) } == 1)
            #expect(pair.client.send("a") == "moved 1")
            #expect(pair.readAtServer(until: "a") == "a")
            #expect(pair.server.isEstablished)
            #expect(pair.server.send("b") == "moved 1")
            #expect(pair.readAtClient(until: "b") == "b")
            #expect(pair.server.needs == [])
        }
    }

    @Test func `Errors that others left on the thread do not end a connection`() throws {
        let pair = try TLSPair(TestAuthority.identity(), TestAuthority.trust())
        pair.shakeHands()
        #expect(Certificate(der: [1, 2, 3]) == nil)
        _ = d2i_X509(nil, nil, 0)
        let noise: [UInt8] = [1, 2, 3]
        noise.withUnsafeBufferPointer {
            var start = $0.baseAddress
            _ = d2i_X509(nil, &start, 3)
        }
        #expect(ERR_peek_error() != 0)
        #expect(pair.readAtServer().transfer.text == "would block")
        #expect(pair.server.send("x") == "moved 1")
    }

    @Test func `A client that has gone gives a broken connection and no signal`() throws {
        let pair = try TLSPair(TestAuthority.identity(), TestAuthority.trust())
        pair.shakeHands()
        pair.client.discardUnsent()
        pair.client.close()
        waitFor(pair.serverSocket, [.reading])
        #expect(pair.readAtServer().transfer.text == "broken")
        #expect(pair.server.send("x") == "broken")
        #expect(pair.server.finishWriting())
    }

    @Test func `A client that ends before it has sent anything is no problem`() throws {
        let pair = try TLSPair(TestAuthority.identity(), TestAuthority.trust())
        #expect(pair.readAtServer().transfer.text == "would block")
        #expect(pair.server.handshakeProblem == nil)
        pair.clientSocket.shutdownWriting()
        waitFor(pair.serverSocket, [.reading])
        #expect(pair.readAtServer().transfer.text == "ended")
    }

    @Test func `A write that waits needs nothing of a read`() throws {
        let pair = try TLSPair(TestAuthority.identity(), TestAuthority.trust(), bufferSize: 4096)
        pair.shakeHands()
        let bytes = [UInt8](repeating: 1, count: 1 << 20)
        var rest = bytes[...]
        while case .moved(let count) = rest.withUnsafeBytes(pair.server.write) { rest = rest.dropFirst(count) }
        #expect(!rest.isEmpty)
        #expect(pair.server.needs == [])
    }

    @Test func `Behind the own end nothing is buffered and nothing needed`() throws {
        let pair = try TLSPair(TestAuthority.identity(), TestAuthority.trust())
        pair.shakeHands()
        #expect(pair.client.send("x") == "moved 1")
        // One read returns the client's close_notify together with its content.
        _ = pair.client.finishWriting()
        waitFor(pair.serverSocket, [.reading])
        #expect(pair.readAtServer().text == "x")
        #expect(pair.server.hasBufferedInput)
        #expect(pair.server.finishWriting())
        #expect(!pair.server.hasBufferedInput)
        #expect(pair.server.needs == [])
    }
}
