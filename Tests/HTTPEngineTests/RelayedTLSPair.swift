import Testing

@testable import HTTPEngine

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A server's transport and a client's session; the test between them relays as many bytes as it wants.
final class RelayedTLSPair {
    let server: Transport
    let client: TLSSession
    private let serverSocket: Socket
    private let serverRelay: Socket
    private let clientRelay: Socket

    init(_ trust: TLSTrust) throws {
        let clientSocket: Socket
        (serverSocket, serverRelay) = try connectedSockets()
        (clientRelay, clientSocket) = try connectedSockets()
        server = try #require(Transport(serverSocket, identity: TestAuthority.identity()))
        client = try #require(TLSSession(clientSocket, trust: trust, host: "localhost"))
    }

    deinit {
        server.close()
        client.close()
        serverRelay.close()
        clientRelay.close()
    }

    /// Relays data, at most this many bytes at a time, until the client's handshake is complete.
    func shakeHands(atMost count: Int = 65_536) {
        while client.shakeHands() == .waiting {
            var entries = [clientRelay, serverRelay].map {
                pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0)
            }
            guard poll(&entries, 2, 20_000) > 0 else { return }
            if entries[0].revents != 0 {
                passOn(atMost: count)
                #expect(read(65_536) == "would block")
            }
            if entries[1].revents != 0 { _ = clientRelay.send(take(from: serverRelay, atMost: 65_536)) }
        }
    }

    /// Relays exactly this many of the client's bytes.
    func passOn(_ count: Int) {
        var rest = count
        while rest > 0 {
            waitFor(clientRelay, [.reading])
            rest -= passOn(atMost: rest)
        }
    }

    /// Sends the server bytes that the client did not send.
    func forge(_ bytes: [UInt8]) { _ = serverRelay.send(bytes) }

    /// Waits until there is data for the server.
    func waitForServer() { waitFor(serverSocket, [.reading]) }

    /// Whether the client has sent bytes that were not relayed yet.
    var hasMore: Bool {
        var entry = pollfd(fd: clientRelay.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 1
    }

    /// Reads once at the server, into a buffer of this size.
    func read(_ size: Int) -> String {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { buffer.deallocate() }
        let transfer = server.read(into: buffer)
        guard case .moved(let count) = transfer else { return transfer.text }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    @discardableResult private func passOn(atMost count: Int) -> Int {
        let bytes = take(from: clientRelay, atMost: count)
        _ = serverRelay.send(bytes)
        waitFor(serverSocket, [.reading])
        return bytes.count
    }

    private func take(from socket: Socket, atMost count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, taken in
            if case .moved(let count) = socket.read(into: UnsafeMutableRawBufferPointer(buffer)) { taken = count }
        }
    }
}
