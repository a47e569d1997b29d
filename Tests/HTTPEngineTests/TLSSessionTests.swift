import COpenSSL
import Testing

@testable import HTTPEngine

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite(.timeLimit(.minutes(1))) struct TLSSessionTests {
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
}

extension TLSSession {
    /// The version that was agreed on.
    var version: Int32 { ask { SSL_version($0) } ?? 0 }
}
