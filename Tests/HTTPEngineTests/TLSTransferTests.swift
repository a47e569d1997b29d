import COpenSSL
import Testing

@testable import HTTPEngine

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Large transfers in both directions at once, where each side accepts little at a time.
@Suite(.timeLimit(.minutes(15))) struct TLSTransferTests {
    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION], [100, 4096, 65_536])
    func `Nothing is lost or changed both ways while both sides read slowly`(version: Int32, portion: Int) throws {
        let trust = try TestAuthority.trust().only(version)
        let pair = try TLSPair(TestAuthority.identity(), trust, bufferSize: 65_536)
        pair.shakeHands()
        let size = portion < 1000 ? 50_000 : 500_000
        var toServer = Flow(size: size, portion: portion, factor: 7)
        var toClient = Flow(size: size, portion: portion, factor: 13)
        while !toServer.isComplete || !toClient.isComplete {
            var hasMoved = toServer.send(pair.client.write)
            hasMoved = toClient.send(pair.server.write) || hasMoved
            hasMoved = toServer.receive(pair.server.read) || hasMoved
            hasMoved = toClient.receive(pair.client.read) || hasMoved
            if hasMoved { continue }
            var entries = [pair.serverSocket, pair.clientSocket].map {
                pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0)
            }
            #expect(poll(&entries, 2, 20_000) > 0)
        }
        #expect(toServer.isUnchanged)
        #expect(toClient.isUnchanged)
        #expect(pair.server.needs == [])
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
