import Testing
import Wire

@testable import HTTPEngine

/// What a server sends; each test names its section of RFC 6455.
@Suite struct WebSocketEncoderTests {
    private func encode(_ message: WebSocketMessage) -> [UInt8] {
        var output: [UInt8] = []
        WebSocketEncoder.encode(message, into: &output)
        return output
    }
    private func encode(_ closure: WebSocketClosure) -> [UInt8] {
        var output: [UInt8] = []
        WebSocketEncoder.encode(closure, into: &output)
        return output
    }

    @Test func `Section 5-7: the samples of what is not masked`() {
        #expect(encode(.text("Hello")) == [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        var pong: [UInt8] = []
        WebSocketEncoder.encodePong(Array("Hello".utf8), into: &pong)
        #expect(pong == [0x8A, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        let long = [UInt8](repeating: 7, count: 256)
        #expect(encode(.binary(long)) == [0x82, 0x7E, 0x01, 0x00] + long)
        let longer = [UInt8](repeating: 7, count: 65_536)
        #expect(encode(.binary(longer)) == [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + longer)
    }

    @Test(
        arguments: [
            (0, [0]), (1, [1]), (125, [125]), (126, [126, 0, 126]), (127, [126, 0, 127]), (65_535, [126, 255, 255]),
            (65_536, [127, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] as [(Int, [UInt8])])
    func `Sections 5-1 and 5-2: no mask, and a length in the fewest bytes`(count: Int, length: [UInt8]) {
        let payload = [UInt8](repeating: 0x61, count: count)
        #expect(encode(.text(String(decoding: payload, as: UTF8.self))) == [0x81] + length + payload)
        #expect(encode(.binary(payload)) == [0x82] + length + payload)
    }

    @Test func `Section 5-4: a message goes behind what is there, in one frame`() {
        var output: [UInt8] = [1, 2]
        WebSocketEncoder.encode(.text("ä"), into: &output)
        WebSocketEncoder.encodePong([3], into: &output)
        #expect(output == [1, 2, 0x81, 2, 0xC3, 0xA4, 0x8A, 1, 3])
    }

    @Test func `Section 5-5: a control frame never exceeds 125 bytes`() {
        let long = [UInt8](repeating: 7, count: 126)
        var output: [UInt8] = []
        WebSocketEncoder.encodePong(long, into: &output)
        #expect(output == [0x8A, 125] + long.dropLast())
    }

    @Test func `Section 5-5-1: a close frame begins with its code`() {
        #expect(encode(WebSocketClosure(.normal)) == [0x88, 2, 0x03, 0xE8])
        #expect(encode(WebSocketClosure(.goingAway, reason: "bye")) == [0x88, 5, 0x03, 0xE9, 0x62, 0x79, 0x65])
    }

    @Test(arguments: [0, 1004, 1005, 1006, 1015, 2999, 5000] as [UInt16])
    func `Section 7-4-1: a code that no frame may have is left out`(code: UInt16) {
        #expect(encode(WebSocketClosure(.init(rawValue: code), reason: "why")) == [0x88, 0])
    }

    @Test(arguments: [
        (String(repeating: "a", count: 123), 123), (String(repeating: "a", count: 124), 123),
        (String(repeating: "ä", count: 61) + "a", 123), (String(repeating: "ä", count: 62), 122),
        (String(repeating: "€", count: 41), 123), (String(repeating: "€", count: 50), 123),
        ("a" + String(repeating: "€", count: 41), 121), (String(repeating: "😀", count: 31), 120),
        ("ab" + String(repeating: "😀", count: 31), 122), ("", 0),
    ])
    func `Section 5-5-1: a long reason is cut before a code point`(reason: String, count: Int) {
        let frame = encode(WebSocketClosure(.normal, reason: reason))
        #expect(frame.prefix(2) == [0x88, UInt8(count + 2)])
        #expect(frame.dropFirst(4).elementsEqual(reason.utf8.prefix(count)))
        #expect(String(validating: frame.dropFirst(4), as: UTF8.self) != nil)
    }
}
