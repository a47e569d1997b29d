import Testing

@testable import HTTPEngine

@Suite(.timeLimit(.minutes(15))) struct TLSEndingTests {
    @Test func `A client that has ended its side still gets its answer`() throws {
        let pair = try pair()
        #expect(pair.client.send("last") == "moved 4")
        #expect(pair.client.finishWriting())
        #expect(pair.readAtServer(until: "never") == "last(ended)")
        #expect(pair.server.send("answer") == "moved 6")
        #expect(pair.server.finishWriting())
        #expect(pair.readAtClient(until: "never") == "answer(ended)")
    }

    @Test func `Content and the end behind it come from one look at the socket`() throws {
        let pair = try pair()
        _ = pair.client.send("abc")
        #expect(pair.client.finishWriting())
        waitFor(pair.serverSocket, [.reading])
        // Both records are in OpenSSL now or will be; only reading shows it.
        #expect(pair.readAtServer().text == "abc")
        if !pair.server.hasBufferedInput { waitFor(pair.serverSocket, [.reading]) }
        #expect(pair.readAtServer().transfer.text == "ended")
        #expect(!pair.server.hasBufferedInput)
        #expect(pair.readAtServer().transfer.text == "ended")
    }

    @Test func `The end without close_notify ends a client's requests`() throws {
        let pair = try pair()
        _ = pair.client.send("abc")
        pair.clientSocket.shutdownWriting()
        #expect(pair.readAtServer(until: "never") == "abc(ended)")
        #expect(pair.server.send("answer") == "moved 6")
    }

    @Test func `The end without close_notify is a broken connection to the client`() throws {
        let pair = try pair()
        _ = pair.server.send("abc")
        pair.serverSocket.shutdownWriting()
        #expect(pair.readAtClient(until: "never") == "abc(broken)")
    }

    @Test func `Closing says close_notify, and discarding does not`() throws {
        let closing = try pair()
        closing.server.close()
        #expect(closing.readAtClient(until: "never") == "(ended)")
        closing.server.close()
        let discarding = try pair()
        discarding.server.discardUnsent()
        discarding.server.close()
        #expect(discarding.readAtClient(until: "never") == "(broken)")
    }

    @Test func `The end waits for room on the way, and comes once`() throws {
        let pair = try pair(bufferSize: 4096)
        // The tickets sent after the handshake are read first.
        _ = pair.server.send("x")
        #expect(pair.readAtClient(until: "x") == "x")
        #expect(pair.server.finishWriting(afterFilling: pair.serverSocket) == false)
        #expect(!pair.server.finishWriting())
        var received: [UInt8] = []
        while !pair.server.finishWriting() { received += pair.clientSocket.takeAll() }
        #expect(pair.server.finishWriting())
        #expect(pair.server.send("x") == "broken")
        repeat {
            waitFor(pair.clientSocket, [.reading])
            received += pair.clientSocket.takeAll()
        } while pair.clientSocket.read(into: UnsafeMutableRawBufferPointer(start: nil, count: 0)).text != "ended"
        // A TLS 1.3 alert has two bytes and looks like content, RFC 8446 section 5.2.
        let end = received.drop { $0 == UInt8(ascii: "-") }
        #expect(Array(end.prefix(5)) == [0x17, 0x03, 0x03, 0x00, 0x13])
        #expect(end.count == 24)
    }

    @Test func `Behind the end what comes is dropped as it is`() throws {
        let pair = try pair()
        #expect(pair.server.finishWriting())
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
        #expect(dropped > 4)
    }

    private func pair(bufferSize: Int32? = nil) throws -> TLSPair {
        let pair = try TLSPair(TestAuthority.identity(), TestAuthority.trust(), bufferSize: bufferSize)
        pair.shakeHands()
        return pair
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

extension Socket {
    /// Everything that can be read now.
    fileprivate func takeAll() -> [UInt8] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while case .moved(let count) = part.withUnsafeMutableBytes(read) { bytes += part.prefix(count) }
        return bytes
    }
}
