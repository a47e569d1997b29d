import Testing

@testable import HTTPEngine

/// The meaning of a client's frames; each test names its section of RFC 6455.
@Suite struct WebSocketFramesTests {
    private typealias Outcome = WebSocketOutcome

    private func some(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) } }

    @Test func `Section 5-7: a masked text in one frame`() {
        let bytes: [UInt8] = [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        #expect(Outcome.read(bytes) == [.text("Hello")])
    }

    @Test func `Section 5-7: a text in two fragments, masked as clients must`() {
        let bytes = ClientFrame.bytes(0x01, "Hel".utf8) + ClientFrame.bytes(0x80, "lo".utf8)
        #expect(bytes.prefix(9) == [0x01, 0x83, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D])
        #expect(Outcome.read(bytes) == [.text("Hello")])
    }

    @Test func `Section 5-7: a ping, and the masked pong that answers one`() {
        let pong: [UInt8] = [0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        #expect(Outcome.read(pong) == [.pong(Array("Hello".utf8))])
        let ping: [UInt8] = [0x89] + pong.dropFirst()
        #expect(Outcome.read(ping) == [.ping(Array("Hello".utf8))])
    }

    @Test(arguments: [256, 65_536])
    func `Section 5-7: bytes in one frame`(count: Int) {
        let payload = some(count)
        #expect(Outcome.read(ClientFrame.bytes(0x82, payload), limit: count) == [.binary(payload)])
    }

    @Test(arguments: [0, 1, 124, 125, 126, 127, 128, 65_535, 65_536])
    func `Section 5-2: every length of a payload, text and bytes`(count: Int) {
        let payload = [UInt8](repeating: UInt8(ascii: "*"), count: count)
        let bytes = ClientFrame.bytes(0x81, payload) + ClientFrame.bytes(0x82, payload)
        #expect(Outcome.read(bytes, limit: count) == [.text(payload), .binary(payload)])
    }

    @Test(
        arguments: [
            [0, 0, 0, 0], [1, 2, 3, 4], [0xFF, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 1], [0, 0, 0, 0xA5],
        ] as [[UInt8]])
    func `Section 5-3: every key takes its own mask off, wherever a portion ends`(key: [UInt8]) {
        for count in 0...40 {
            let payload = some(count)
            let bytes = ClientFrame.bytes(0x82, payload, key: key)
            #expect(Outcome.read(bytes) == [.binary(payload)])
            for portion in 4...12 {
                #expect(Outcome.read(bytes, portions: [portion], limit: 40) == [.binary(payload)])
            }
        }
    }

    @Test func `Section 5-3: each fragment has a key of its own`() {
        let bytes =
            ClientFrame.bytes(0x02, [1, 2, 3], key: [9, 8, 7, 6]) + ClientFrame.bytes(0x00, [4], key: [5, 5, 5, 1])
            + ClientFrame.bytes(0x80, [5, 6], key: [0, 1, 0, 2])
        #expect(Outcome.read(bytes) == [.binary([1, 2, 3, 4, 5, 6])])
    }

    @Test func `Section 5-4: fragments may be empty, the first, the last and all of them`() {
        let empty = [
            ClientFrame.bytes(0x01), ClientFrame.bytes(0x00, "a".utf8), ClientFrame.bytes(0x00),
            ClientFrame.bytes(0x80),
        ]
        #expect(Outcome.read(Array(empty.joined())) == [.text("a")])
        #expect(Outcome.read(ClientFrame.bytes(0x02) + ClientFrame.bytes(0x80)) == [.binary([])])
    }

    @Test func `Section 5-4: fragments without number and content cost nothing`() {
        var frames = WebSocketFrames(maximumMessageBytes: 0)
        ClientFrame.bytes(0x01).withUnsafeBytes { frames.feed($0) }
        let empty = [[UInt8]](repeating: ClientFrame.bytes(0x00), count: 10_000).flatMap(\.self)
        for _ in 0..<10 {
            empty.withUnsafeBytes { frames.feed($0) }
            guard case .more = frames.next() else { return #expect(Bool(false), "nothing is complete") }
            #expect(frames.bufferedCount == 0)
        }
        ClientFrame.bytes(0x80).withUnsafeBytes { frames.feed($0) }
        guard case .message(.text("")) = frames.next() else { return #expect(Bool(false), "an empty text") }
    }

    @Test func `Section 5-4: control frames stand between fragments and come out first`() {
        let bytes =
            ClientFrame.bytes(0x01, "Hel".utf8) + ClientFrame.bytes(0x89, "ping".utf8)
            + ClientFrame.bytes(0x00, "lo".utf8) + ClientFrame.bytes(0x8A) + ClientFrame.bytes(0x80, "!".utf8)
        #expect(Outcome.read(bytes) == [.ping(Array("ping".utf8)), .pong([]), .text("Hello!")])
    }

    @Test func `Section 5-4: a message in fragments may be followed by another of the other kind`() {
        let bytes =
            ClientFrame.bytes(0x01, "a".utf8) + ClientFrame.bytes(0x80, "b".utf8) + ClientFrame.bytes(0x02, [0xFF])
            + ClientFrame.bytes(0x80, [0xFE]) + ClientFrame.text("c")
        #expect(Outcome.read(bytes) == [.text("ab"), .binary([0xFF, 0xFE]), .text("c")])
    }

    @Test(arguments: [0, 1, 125])
    func `Sections 5-5-2 and 5-5-3: a ping and a pong carry any bytes`(count: Int) {
        let payload = some(count)
        let bytes = ClientFrame.bytes(0x89, payload) + ClientFrame.bytes(0x8A, payload)
        #expect(Outcome.read(bytes) == [.ping(payload), .pong(payload)])
    }

    @Test func `Section 5-6: bytes need not be text`() {
        #expect(Outcome.read(ClientFrame.bytes(0x82, [0xFF, 0xC0, 0x00])) == [.binary([0xFF, 0xC0, 0x00])])
    }

    @Test func `Section 5-5-1: a close frame may end a connection in the middle of a message`() {
        let bytes = ClientFrame.bytes(0x01, "a".utf8) + ClientFrame.close(1000)
        #expect(Outcome.read(bytes) == [.close(.normal)])
    }

    @Test func `Section 7-4-1: a message at the limit is not over it`() {
        let whole = ClientFrame.bytes(0x82, some(10))
        let parts =
            ClientFrame.bytes(0x02, some(4)) + ClientFrame.bytes(0x00, some(6)) + ClientFrame.bytes(0x80)
        #expect(Outcome.read(whole + parts, limit: 10) == [.binary(some(10)), .binary(some(4) + some(6))])
    }

    @Test func `A frame that is not complete comes to nothing`() {
        let bytes = ClientFrame.bytes(0x82, some(300))
        for end in [0, 1, 2, 3, 4, 7, 8, 9, bytes.count - 1] {
            #expect(Outcome.read(Array(bytes[..<end])).isEmpty)
        }
    }
}
