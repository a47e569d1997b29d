import COpenSSL
import Expectations
import Testing

@testable import HTTPEngine

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

enum TestAuthority {
    /// The authority shared by all tests of this process.
    static let shared = Result { try CertificateAuthority() }

    /// An identity for `localhost` and the loopback addresses that many tests share.
    static let sharedIdentity = Result { try identity() }

    /// An identity for `localhost` and the loopback addresses.
    static func identity(_ names: [String] = ["localhost", "127.0.0.1", "::1"]) throws -> TLSIdentity {
        let issue = try shared.get().issue(for: names)
        return try TLSIdentity(certificateChain: issue.certificateChain, privateKey: issue.privateKey)
    }

    static func trust() throws -> TLSTrust { try TLSTrust(alsoIn: shared.get().certificatePEM) }
}

/// A server's transport and a client's session at the two ends of one connection, driven in turn by the test.
final class TLSPair {
    let server: Transport
    let serverSocket: Socket
    let client: TLSSession
    let clientSocket: Socket
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

    init(_ identity: TLSIdentity, _ trust: TLSTrust, host: String = "localhost", bufferSize: Int32? = nil) throws {
        (serverSocket, clientSocket) = try connectedSockets(bufferSize: bufferSize)
        server = try #require(Transport(serverSocket, identity: identity))
        client = try #require(TLSSession(clientSocket, trust: trust, host: host))
    }

    /// A pair that has shaken hands, in this version if one is given.
    static func connected(_ version: Int32? = nil, bufferSize: Int32? = nil) throws -> TLSPair {
        let trust = try version.map { try TestAuthority.trust().only($0) } ?? TestAuthority.trust()
        let pair = try TLSPair(TestAuthority.identity(), trust, bufferSize: bufferSize)
        pair.shakeHands()
        return pair
    }

    deinit {
        server.close()
        client.close()
        buffer.deallocate()
    }

    /// Performs the handshake on both sides; also returns the result of the server's last read.
    @discardableResult func shakeHands() -> (client: TLSSession.Progress, server: Socket.Transfer) {
        var serverSide = Socket.Transfer.wouldBlock
        while true {
            let progress = client.shakeHands()
            if case .waiting = progress {
            } else {
                if case .wouldBlock = serverSide { serverSide = readAtServer().transfer }
                return (progress, serverSide)
            }
            if case .wouldBlock = serverSide {
                waitFor(serverSocket, [.reading])
                serverSide = readAtServer().transfer
            }
            waitFor(clientSocket, client.needs.isEmpty ? [.reading] : client.needs)
        }
    }

    func readAtServer() -> (transfer: Socket.Transfer, text: String) { read(server.read) }

    func readAtClient() -> (transfer: Socket.Transfer, text: String) { read(client.read) }

    private func read(
        _ read: (UnsafeMutableRawBufferPointer) -> Socket.Transfer
    ) -> (transfer: Socket.Transfer, text: String) {
        let transfer = read(buffer)
        guard case .moved(let count) = transfer else { return (transfer, "") }
        return (transfer, String(decoding: buffer[..<count], as: UTF8.self))
    }

    /// Reads at the server until this text has arrived or the connection ends.
    func readAtServer(until text: String) -> String { read(until: text, serverSocket, readAtServer) }

    /// Reads at the client until this text has arrived or the connection ends.
    func readAtClient(until text: String) -> String { read(until: text, clientSocket, readAtClient) }

    private func read(
        until end: String, _ socket: Socket, _ read: () -> (transfer: Socket.Transfer, text: String)
    ) -> String {
        var text = ""
        while !text.hasSuffix(end) || end.isEmpty {
            let (transfer, part) = read()
            text += part
            switch transfer {
            case .moved: break
            case .wouldBlock: waitFor(socket, [.reading])
            case .ended: return text + "(ended)"
            case .broken: return text + "(broken)"
            }
        }
        return text
    }
}

func connectedSockets(bufferSize: Int32? = nil) throws -> (server: Socket, client: Socket) {
    let listener = try ListeningSocket(.init(port: 0))
    let address = try #require(SocketAddress.resolve(host: "127.0.0.1", port: listener.address.port).first)
    let client = try #require(Socket(family: address.family))
    _ = address.withPointer { connect(client.descriptor, $0, $1) }
    waitFor(listener.socket, [.reading])
    let server = try #require(listener.socket.accept()).socket
    waitFor(client, [.writing])
    client.setOption(Int32(IPPROTO_TCP), TCP_NODELAY)
    if var bufferSize {
        for socket in [server, client] {
            let size = socklen_t(MemoryLayout<Int32>.size)
            setsockopt(socket.descriptor, SOL_SOCKET, SO_SNDBUF, &bufferSize, size)
            setsockopt(socket.descriptor, SOL_SOCKET, SO_RCVBUF, &bufferSize, size)
        }
    }
    return (server, client)
}

/// Waits until a socket is ready; no longer than any test should wait.
func waitFor(_ socket: Socket, _ interest: Interest) {
    let events = (interest.contains(.reading) ? POLLIN : 0) | (interest.contains(.writing) ? POLLOUT : 0)
    var entry = pollfd(fd: socket.descriptor, events: Int16(events), revents: 0)
    let count = poll(&entry, 1, 20_000)
    expect(count, is: 1)
}

/// Waits until any of the sockets can be read, no longer than any test should wait; says which.
func waitForAny(_ sockets: [Socket]) -> [Bool] {
    var entries = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    let count = poll(&entries, nfds_t(entries.count), 20_000)
    expect(count, above: 0)
    return entries.map { $0.revents != 0 }
}

extension Socket.Transfer {
    var text: String {
        switch self {
        case .moved(let count): "moved \(count)"
        case .wouldBlock: "would block"
        case .ended: "ended"
        case .broken: "broken"
        }
    }
}

extension TLSSession {
    func send(_ text: String) -> String { Array(text.utf8).withUnsafeBytes { write($0).text } }
}

extension Transport {
    func send(_ text: String) -> String { Array(text.utf8).withUnsafeBytes { write($0).text } }
}

extension Socket {
    @discardableResult func send(_ bytes: [UInt8]) -> String { bytes.withUnsafeBytes { write($0).text } }

    /// Writes all of the bytes in this way, waiting for room; returns false if the other end has gone.
    func writeAll(_ bytes: [UInt8], by write: (UnsafeRawBufferPointer) -> Transfer) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            switch rest.withUnsafeBytes(write) {
            case .moved(let count): rest = rest.dropFirst(count)
            case .wouldBlock: waitFor(self, [.writing])
            case .ended, .broken: return false
            }
        }
        return true
    }

    /// Everything that can be read now.
    func takeAll() -> [UInt8] {
        var bytes: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 4096)
        while case .moved(let count) = part.withUnsafeMutableBytes(read) { bytes += part.prefix(count) }
        return bytes
    }
}

extension TLSTrust {
    func only(_ version: Int32) throws -> TLSTrust {
        let context = try #require(context)
        _ = SSL_CTX_ctrl(context.pointer, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil)
        _ = SSL_CTX_ctrl(context.pointer, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(version), nil)
        return self
    }
}

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
            let ready = waitForAny([clientRelay, serverRelay])
            guard ready.contains(true) else { return }
            if ready[0] {
                passOn(atMost: count)
                expect(read(65_536), is: "would block")
            }
            if ready[1] { _ = clientRelay.send(take(from: serverRelay, atMost: 65_536)) }
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

    func forge(_ bytes: [UInt8]) { _ = serverRelay.send(bytes) }

    /// Waits until there is data for the server.
    func waitForServer() { waitFor(serverSocket, [.reading]) }

    /// Whether the client has sent bytes that were not relayed yet.
    var hasMore: Bool {
        var entry = pollfd(fd: clientRelay.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 1
    }

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
