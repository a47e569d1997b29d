import COpenSSL
import Testing

@testable import HTTPEngine

/// How content is read from records: whole, in parts and many at once.
@Suite(.timeLimit(.minutes(15))) struct TLSRecordTests {
    /// The overhead of a TLS 1.3 record: header, type and tag, RFC 8446 section 5.2.
    private let overhead = 22

    @Test func `One read takes several records`() throws {
        let pair = try pair()
        for text in ["one ", "two ", "three"] { _ = pair.client.send(text) }
        pair.passOn(13 + 3 * overhead)
        #expect(pair.read(50) == "one two three")
        #expect(!pair.server.hasBufferedInput)
    }

    @Test func `What a small buffer leaves is said to be there`() throws {
        let pair = try pair()
        for text in ["0123456789", "abc"] { _ = pair.client.send(text) }
        pair.passOn(13 + 2 * overhead)
        #expect(pair.read(4) == "0123")
        #expect(pair.server.hasBufferedInput)
        #expect(pair.read(6) == "456789")
        #expect(pair.server.hasBufferedInput)
        #expect(pair.read(6) == "abc")
        #expect(!pair.server.hasBufferedInput)
        #expect(pair.read(6) == "would block")
    }

    @Test func `A part of a record is no input until the rest is there`() throws {
        let pair = try pair()
        for text in ["first", "second"] { _ = pair.client.send(text) }
        pair.passOn(11 + 2 * overhead - 1)
        #expect(pair.read(50) == "first")
        #expect(!pair.server.hasBufferedInput)
        #expect(pair.read(50) == "would block")
        #expect(!pair.server.hasBufferedInput)
        pair.passOn(1)
        #expect(pair.read(50) == "second")
        #expect(!pair.server.hasBufferedInput)
    }

    @Test func `A part of a record behind a full buffer costs one read for nothing`() throws {
        let pair = try pair()
        for text in ["first", "second"] { _ = pair.client.send(text) }
        pair.passOn(11 + 2 * overhead - 1)
        #expect(pair.read(5) == "first")
        #expect(pair.server.hasBufferedInput)
        #expect(pair.read(5) == "would block")
        #expect(!pair.server.hasBufferedInput)
    }

    @Test func `The end that lies behind the content is said to be there`() throws {
        let pair = try pair()
        _ = pair.client.send("last")
        #expect(pair.client.finishWriting())
        // The alert has two bytes. The end of the stream is not relayed, as when something on the way delays it.
        pair.passOn(4 + 2 + 2 * overhead)
        #expect(pair.read(50) == "last")
        #expect(pair.server.hasBufferedInput)
        #expect(pair.read(50) == "ended")
        #expect(!pair.server.hasBufferedInput)
        #expect(pair.server.send("answer") == "moved 6")
    }

    @Test func `A record that somebody changed breaks the connection behind the good ones`() throws {
        let pair = try pair()
        _ = pair.client.send("good")
        pair.passOn(4 + overhead)
        pair.forge([0x17, 0x03, 0x03, 0x00, 0x20] + [UInt8](repeating: 7, count: 32))
        #expect(pair.read(50) == "good")
        if !pair.server.hasBufferedInput { pair.waitForServer() }
        #expect(pair.read(50) == "broken")
        #expect(!pair.server.hasBufferedInput)
        #expect(pair.read(50) == "broken")
        #expect(pair.server.send("x") == "broken")
        #expect(pair.server.handshakeProblem == nil)
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `A handshake and a request arrive byte by byte`(version: Int32) throws {
        let pair = try RelayedTLSPair(TestAuthority.trust().only(version))
        pair.shakeHands(atMost: 1)
        #expect(pair.client.isEstablished)
        _ = pair.client.send("ab")
        var seen = "would block"
        while seen == "would block" {
            pair.passOn(1)
            seen = pair.read(50)
        }
        #expect(seen == "ab")
        #expect(!pair.hasMore)
        #expect(pair.server.isEstablished)
    }

    private func pair() throws -> RelayedTLSPair {
        let pair = try RelayedTLSPair(TestAuthority.trust().only(TLS1_3_VERSION))
        pair.shakeHands()
        // The client's last bytes complete the server's side.
        while !pair.server.isEstablished {
            pair.passOn(1)
            #expect(pair.read(50) == "would block")
        }
        return pair
    }
}
