import COpenSSL
import Expectations
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
        expect(pair.read(50), is: "one two three")
        expect(pair.server.hasBufferedInput, is: false)
    }

    @Test func `What a small buffer leaves is said to be there`() throws {
        let pair = try pair()
        for text in ["0123456789", "abc"] { _ = pair.client.send(text) }
        pair.passOn(13 + 2 * overhead)
        expect(pair.read(4), is: "0123")
        expect(pair.server.hasBufferedInput, is: true)
        expect(pair.read(6), is: "456789")
        expect(pair.server.hasBufferedInput, is: true)
        expect(pair.read(6), is: "abc")
        expect(pair.server.hasBufferedInput, is: false)
        expect(pair.read(6), is: "would block")
    }

    @Test func `A part of a record is no input until the rest is there`() throws {
        let pair = try pair()
        for text in ["first", "second"] { _ = pair.client.send(text) }
        pair.passOn(11 + 2 * overhead - 1)
        expect(pair.read(50), is: "first")
        expect(pair.server.hasBufferedInput, is: false)
        expect(pair.read(50), is: "would block")
        expect(pair.server.hasBufferedInput, is: false)
        pair.passOn(1)
        expect(pair.read(50), is: "second")
        expect(pair.server.hasBufferedInput, is: false)
    }

    @Test func `A part of a record behind a full buffer costs one read for nothing`() throws {
        let pair = try pair()
        for text in ["first", "second"] { _ = pair.client.send(text) }
        pair.passOn(11 + 2 * overhead - 1)
        expect(pair.read(5), is: "first")
        expect(pair.server.hasBufferedInput, is: true)
        expect(pair.read(5), is: "would block")
        expect(pair.server.hasBufferedInput, is: false)
    }

    @Test func `The end that lies behind the content is said to be there`() throws {
        let pair = try pair()
        _ = pair.client.send("last")
        expect(pair.client.finishWriting(), is: true)
        // The alert has two bytes. The end of the stream is not relayed, as when something on the way delays it.
        pair.passOn(4 + 2 + 2 * overhead)
        expect(pair.read(50), is: "last")
        expect(pair.server.hasBufferedInput, is: true)
        expect(pair.read(50), is: "ended")
        expect(pair.server.hasBufferedInput, is: false)
        expect(pair.read(50), is: "ended")
        expect(pair.server.send("answer"), is: "moved 6")
    }

    @Test func `A record that somebody changed breaks the connection behind the good ones`() throws {
        let pair = try pair()
        _ = pair.client.send("good")
        pair.passOn(4 + overhead)
        pair.forge([0x17, 0x03, 0x03, 0x00, 0x20] + [UInt8](repeating: 7, count: 32))
        expect(pair.read(50), is: "good")
        if !pair.server.hasBufferedInput { pair.waitForServer() }
        expect(pair.read(50), is: "broken")
        expect(pair.server.hasBufferedInput, is: false)
        expect(pair.read(50), is: "broken")
        expect(pair.server.send("x"), is: "broken")
        expect(pair.server.handshakeProblem, is: nil)
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `A handshake and a request arrive byte by byte`(version: Int32) throws {
        let pair = try RelayedTLSPair(TestAuthority.trust().only(version))
        pair.shakeHands(atMost: 1)
        expect(pair.client.isEstablished, is: true)
        _ = pair.client.send("ab")
        var seen = "would block"
        while seen == "would block" {
            pair.passOn(1)
            seen = pair.read(50)
        }
        expect(seen, is: "ab")
        expect(pair.hasMore, is: false)
        expect(pair.server.isEstablished, is: true)
    }

    private func pair() throws -> RelayedTLSPair {
        let pair = try RelayedTLSPair(TestAuthority.trust().only(TLS1_3_VERSION))
        pair.shakeHands()
        // The client's last bytes complete the server's side.
        while !pair.server.isEstablished {
            pair.passOn(1)
            expect(pair.read(50), is: "would block")
        }
        return pair
    }
}

@Suite(.timeLimit(.minutes(15))) struct TLSEndingTests {
    @Test func `A client that has ended its side still gets its answer`() throws {
        let pair = try TLSPair.connected()
        expect(pair.client.send("last"), is: "moved 4")
        expect(pair.client.finishWriting(), is: true)
        expect(pair.readAtServer(until: "never"), is: "last(ended)")
        expect(pair.server.send("answer"), is: "moved 6")
        expect(pair.server.finishWriting(), is: true)
        expect(pair.readAtClient(until: "never"), is: "answer(ended)")
    }

    @Test func `The end without close_notify ends a client's requests`() throws {
        let pair = try TLSPair.connected()
        _ = pair.client.send("abc")
        pair.clientSocket.shutdownWriting()
        expect(pair.readAtServer(until: "never"), is: "abc(ended)")
        expect(pair.server.send("answer"), is: "moved 6")
    }

    @Test func `The end without close_notify is a broken connection to the client`() throws {
        let pair = try TLSPair.connected()
        _ = pair.server.send("abc")
        pair.serverSocket.shutdownWriting()
        expect(pair.readAtClient(until: "never"), is: "abc(broken)")
    }

    @Test func `Closing says close_notify, and discarding does not`() throws {
        let closing = try TLSPair.connected()
        closing.server.close()
        expect(closing.readAtClient(until: "never"), is: "(ended)")
        closing.server.close()
        let discarding = try TLSPair.connected()
        discarding.server.discardUnsent()
        discarding.server.close()
        expect(discarding.readAtClient(until: "never"), is: "(broken)")
    }

    @Test func `The end waits for room on the way, and comes once`() throws {
        let pair = try TLSPair.connected(bufferSize: 4096)
        // The tickets sent after the handshake are read first.
        _ = pair.server.send("x")
        expect(pair.readAtClient(until: "x"), is: "x")
        expect(pair.server.finishWriting(afterFilling: pair.serverSocket), is: false)
        expect(pair.server.finishWriting(), is: false)
        var received: [UInt8] = []
        while !pair.server.finishWriting() { received += pair.clientSocket.takeAll() }
        expect(pair.server.finishWriting(), is: true)
        expect(pair.server.send("x"), is: "broken")
        repeat {
            waitFor(pair.clientSocket, [.reading])
            received += pair.clientSocket.takeAll()
        } while pair.clientSocket.read(into: UnsafeMutableRawBufferPointer(start: nil, count: 0)).text != "ended"
        // A TLS 1.3 alert has two bytes and looks like content, RFC 8446 section 5.2.
        let end = received.drop { $0 == UInt8(ascii: "-") }
        expect(Array(end.prefix(5)), is: [0x17, 0x03, 0x03, 0x00, 0x13])
        expect(end.count, is: 24)
    }

    @Test func `Behind the end what comes is dropped as it is`() throws {
        let pair = try TLSPair.connected()
        expect(pair.server.finishWriting(), is: true)
        _ = pair.client.send("late")
        pair.clientSocket.shutdownWriting()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 16)
        defer { buffer.deallocate() }
        var dropped = 0
        while true {
            waitFor(pair.serverSocket, [.reading])
            guard case .moved(let count) = pair.server.drain(into: buffer) else { break }
            dropped += count
        }
        expect(dropped, above: 4)
    }
}

extension Transport {
    /// Fills the underlying socket with hyphens, so that not even an alert fits, and then finishes writing.
    fileprivate func finishWriting(afterFilling socket: Socket) -> Bool {
        let filling = [UInt8](repeating: UInt8(ascii: "-"), count: 1024)
        while socket.send(filling) != "would block" {}
        while socket.send([UInt8(ascii: "-")]) != "would block" {}
        return finishWriting()
    }
}

/// Large transfers in both directions at once, where each side accepts little at a time.
@Suite(.timeLimit(.minutes(15))) struct TLSTransferTests {
    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION], [100, 4096, 65_536])
    func `Nothing is lost or changed both ways while both sides read slowly`(version: Int32, portion: Int) throws {
        let pair = try TLSPair.connected(version, bufferSize: 65_536)
        let size = portion < 1000 ? 50_000 : 500_000
        var toServer = Flow(size: size, portion: portion, factor: 7)
        var toClient = Flow(size: size, portion: portion, factor: 13)
        while !toServer.isComplete || !toClient.isComplete {
            var hasMoved = toServer.send(pair.client.write)
            hasMoved = toClient.send(pair.server.write) || hasMoved
            hasMoved = toServer.receive(pair.server.read) || hasMoved
            hasMoved = toClient.receive(pair.client.read) || hasMoved
            if hasMoved { continue }
            _ = waitForAny([pair.serverSocket, pair.clientSocket])
        }
        expect(toServer.isUnchanged, is: true)
        expect(toClient.isUnchanged, is: true)
        expect(pair.server.needs, is: [])
    }
}

/// Content sent in one direction: the byte at each position is a function of the position.
private struct Flow {
    private let bytes: [UInt8]
    private let portion: Int
    private var sent = 0
    private var received = 0
    private(set) var isUnchanged = true

    init(size: Int, portion: Int, factor: Int) {
        bytes = (0..<size / 50).flatMap {
            [UInt8](repeating: UInt8(truncatingIfNeeded: $0 &* factor &+ $0 >> 8), count: 50)
        }
        self.portion = portion
    }

    var isComplete: Bool { received == bytes.count }

    mutating func send(_ write: (UnsafeRawBufferPointer) -> Socket.Transfer) -> Bool {
        guard sent < bytes.count else { return false }
        // A new copy each time, since buffers grow and move while a record waits.
        let rest = Array(bytes[sent...].prefix(max(portion, 16_384)))
        switch rest.withUnsafeBytes(write) {
        case .moved(let count):
            sent += count
            return true
        case .wouldBlock: return false
        case .ended, .broken:
            isUnchanged = false
            received = bytes.count
            return true
        }
    }

    mutating func receive(_ read: (UnsafeMutableRawBufferPointer) -> Socket.Transfer) -> Bool {
        var part = [UInt8](repeating: 0, count: portion)
        guard case .moved(let count) = part.withUnsafeMutableBytes(read) else { return false }
        isUnchanged = isUnchanged && part[..<count] == bytes[received..<(received + count)]
        received += count
        return true
    }
}
