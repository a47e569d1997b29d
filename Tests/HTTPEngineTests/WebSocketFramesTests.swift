import Expectations
import Testing
import Wire

@testable import HTTPEngine

/// The meaning of a client's frames; each test names its section of RFC 6455.
@Suite struct WebSocketFramesTests {
    private typealias Outcome = WebSocketOutcome

    private func some(_ count: Int) -> [UInt8] { Self.some(count) }

    private static func some(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) } }

    /// The payload of the samples in section 5.7, masked.
    private static let hello: [UInt8] = [0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]

    private static let rules: [FrameRule] = [
        FrameRule("Section 5-7: a masked text in one frame", [[0x81] + hello], .text("Hello")),
        FrameRule(
            "Section 5-7: a text in two fragments, masked as clients must",
            [[0x01, 0x83, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D] + ClientFrame.bytes(0x80, "lo".utf8)],
            .text("Hello")),
        FrameRule("Section 5-7: a ping", [[0x89] + hello], .ping(Array("Hello".utf8))),
        FrameRule("Section 5-7: the masked pong that answers a ping", [[0x8A] + hello], .pong(Array("Hello".utf8))),
        FrameRule(
            "Section 5-3: each fragment has a key of its own",
            [
                ClientFrame.all(
                    ClientFrame.bytes(0x02, [1, 2, 3], key: [9, 8, 7, 6]),
                    ClientFrame.bytes(0x00, [4], key: [5, 5, 5, 1]),
                    ClientFrame.bytes(0x80, [5, 6], key: [0, 1, 0, 2]))
            ],
            .binary([1, 2, 3, 4, 5, 6])),
        FrameRule(
            "Section 5-4: fragments may be empty, the first and the last",
            [
                ClientFrame.all(
                    ClientFrame.bytes(0x01), ClientFrame.bytes(0x00, "a".utf8), ClientFrame.bytes(0x00),
                    ClientFrame.bytes(0x80))
            ],
            .text("a")),
        FrameRule(
            "Section 5-4: all fragments may be empty",
            [ClientFrame.all(ClientFrame.bytes(0x02), ClientFrame.bytes(0x80))], .binary([])),
        FrameRule(
            "Section 5-4: control frames stand between fragments and come out first",
            [
                ClientFrame.all(
                    ClientFrame.bytes(0x01, "Hel".utf8), ClientFrame.bytes(0x89, "ping".utf8),
                    ClientFrame.bytes(0x00, "lo".utf8), ClientFrame.bytes(0x8A), ClientFrame.bytes(0x80, "!".utf8))
            ],
            .ping(Array("ping".utf8)), .pong([]), .text("Hello!")),
        FrameRule(
            "Section 5-4: a message in fragments may be followed by another of the other kind",
            [
                ClientFrame.all(
                    ClientFrame.bytes(0x01, "a".utf8), ClientFrame.bytes(0x80, "b".utf8),
                    ClientFrame.bytes(0x02, [0xFF]), ClientFrame.bytes(0x80, [0xFE]), ClientFrame.text("c"))
            ],
            .text("ab"), .binary([0xFF, 0xFE]), .text("c")),
        FrameRule(
            "Section 5-5-1: a close frame may end a connection in the middle of a message",
            [ClientFrame.all(ClientFrame.bytes(0x01, "a".utf8), ClientFrame.close(1000))], .close(.normal)),
        FrameRule(
            "Section 7-4-1: a message at the limit is not over it",
            [
                ClientFrame.all(
                    ClientFrame.bytes(0x82, some(10)), ClientFrame.bytes(0x02, some(4)),
                    ClientFrame.bytes(0x00, some(6)), ClientFrame.bytes(0x80))
            ],
            limit: 10, .binary(some(10)), .binary(some(4) + some(6))),
        FrameRule(
            "A frame that is not complete comes to nothing",
            [0, 1, 2, 3, 4, 7, 8, 9, 307].map { Array(ClientFrame.bytes(0x82, some(300)).prefix($0)) }),
        FrameRule(
            "Section 8-1: the next text starts afresh",
            [ClientFrame.all(ClientFrame.text("ä"), ClientFrame.bytes(0x82, [0xC3]), ClientFrame.bytes(0x81, [0xA4]))],
            .text("ä"), .binary([0xC3]), .failure(.invalidText)),
    ]

    @Test(arguments: rules) func `Frames are read as their rule says`(rule: FrameRule) { rule.expectOutcomes() }

    @Test(arguments: [0, 1, 124, 125, 126, 127, 128, 256, 65_535, 65_536])
    func `Sections 5-2 and 5-7: every length of a payload, text and bytes`(count: Int) {
        let text = [UInt8](repeating: UInt8(ascii: "*"), count: count)
        let bytes = ClientFrame.bytes(0x81, text) + ClientFrame.bytes(0x82, some(count))
        expect(Outcome.read(bytes, limit: count), is: [.text(text), .binary(some(count))])
    }

    @Test(
        arguments: [
            [0, 0, 0, 0], [1, 2, 3, 4], [0xFF, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 1], [0, 0, 0, 0xA5],
        ] as [[UInt8]])
    func `Section 5-3: every key takes its own mask off, wherever a portion ends`(key: [UInt8]) {
        for count in 0...40 {
            let payload = some(count)
            let bytes = ClientFrame.bytes(0x82, payload, key: key)
            expect(Outcome.read(bytes), is: [.binary(payload)])
            for portion in 4...12 {
                expect(Outcome.read(bytes, portions: [portion], limit: 40), is: [.binary(payload)])
            }
        }
    }

    @Test func `Section 5-4: fragments without number and content cost nothing`() {
        var frames = WebSocketFrames(maximumMessageBytes: 0)
        ClientFrame.bytes(0x01).withUnsafeBytes { frames.feed($0) }
        let empty = [[UInt8]](repeating: ClientFrame.bytes(0x00), count: 10_000).flatMap(\.self)
        for _ in 0..<10 {
            empty.withUnsafeBytes { frames.feed($0) }
            guard case .more = frames.next() else {
                Issue.record("nothing is complete")
                return
            }
            expect(frames.bufferedCount, is: 0)
        }
        ClientFrame.bytes(0x80).withUnsafeBytes { frames.feed($0) }
        if case .message(.text("")) = frames.next() { return }
        Issue.record("no empty text")
    }

    @Test(arguments: [0, 1, 125]) func `Sections 5-5-2 and 5-5-3: a ping and a pong carry any bytes`(count: Int) {
        let payload = some(count)
        let bytes = ClientFrame.bytes(0x89, payload) + ClientFrame.bytes(0x8A, payload)
        expect(Outcome.read(bytes), is: [.ping(payload), .pong(payload)])
    }
}

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
        expect(encode(.text("Hello")), is: [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
        var pong: [UInt8] = []
        WebSocketEncoder.encodePong(Array("Hello".utf8), into: &pong)
        expect(pong, is: [0x8A, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
    }

    @Test(
        arguments: [
            (0, [0]), (1, [1]), (125, [125]), (126, [126, 0, 126]), (127, [126, 0, 127]), (256, [126, 1, 0]),
            (65_535, [126, 255, 255]), (65_536, [127, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] as [(Int, [UInt8])])
    func `Sections 5-1 and 5-2: no mask, and a length in the fewest bytes`(count: Int, length: [UInt8]) {
        let payload = [UInt8](repeating: 0x61, count: count)
        expect(encode(.text(String(decoding: payload, as: UTF8.self))), is: [0x81] + length + payload)
        expect(encode(.binary(payload)), is: [0x82] + length + payload)
    }

    @Test func `Section 5-4: a message goes behind what is there, in one frame`() {
        var output: [UInt8] = [1, 2]
        WebSocketEncoder.encode(.text("ä"), into: &output)
        WebSocketEncoder.encodePong([3], into: &output)
        expect(output, is: [1, 2, 0x81, 2, 0xC3, 0xA4, 0x8A, 1, 3])
    }

    @Test func `Section 5-5: a control frame never exceeds 125 bytes`() {
        let long = [UInt8](repeating: 7, count: 126)
        var output: [UInt8] = []
        WebSocketEncoder.encodePong(long, into: &output)
        expect(output, is: [0x8A, 125] + long.dropLast())
    }

    @Test func `Section 5-5-1: a close frame begins with its code`() {
        expect(encode(WebSocketClosure(.normal)), is: [0x88, 2, 0x03, 0xE8])
        expect(encode(WebSocketClosure(.goingAway, reason: "bye")), is: [0x88, 5, 0x03, 0xE9, 0x62, 0x79, 0x65])
    }

    @Test(arguments: [0, 1004, 1005, 1006, 1015, 2999, 5000] as [UInt16])
    func `Section 7-4-1: a code that no frame may have is left out`(code: UInt16) {
        expect(encode(WebSocketClosure(.init(rawValue: code), reason: "why")), is: [0x88, 0])
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
        expect(frame.prefix(2), is: [0x88, UInt8(count + 2)])
        expect(Array(frame.dropFirst(4)), is: Array(reason.utf8.prefix(count)))
        expect(reason.hasPrefix(String(decoding: frame.dropFirst(4), as: UTF8.self)), is: true, "\(frame)")
    }
}

/// Text is UTF-8, RFC 6455 section 8.1, and an error is detected at the first wrong byte.
@Suite struct WebSocketTextTests {
    private typealias Outcome = WebSocketOutcome

    /// The bounds of RFC 3629 section 4, and texts commonly used to test clients.
    static let valid = [
        "", "Hello-µ@ßöäüàá-UTF-8!!", "κόσμε", "\u{0}", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}",
        "\u{E000}", "\u{FEFF}", "\u{FFFD}", "\u{FFFE}", "\u{FFFF}", "\u{10000}", "\u{3FFFF}", "\u{10FFFF}",
        "eight by eight by eight: ä, and some more ASCII behind it", "👩‍👩‍👧‍👦",
    ]

    /// The bytes before the first wrong one, and that byte.
    static let invalid: [(before: [UInt8], wrong: UInt8)] = [
        ([], 0x80), ([], 0xBF), ([], 0xC0), ([], 0xC1), ([], 0xF5), ([], 0xF8), ([], 0xFC), ([], 0xFE), ([], 0xFF),
        ([0xC2], 0x7F), ([0xC2], 0xC0), ([0xDF], 0x20), ([0xE0], 0x9F), ([0xE0], 0xC0), ([0xE0, 0xA0], 0x7F),
        ([0xE1, 0x80], 0xC0), ([0xED], 0xA0), ([0xED], 0xBF), ([0xEF, 0xBF], 0x00), ([0xF0], 0x8F),
        ([0xF0, 0x90], 0x20), ([0xF0, 0x90, 0x80], 0xFF), ([0xF4], 0x90), ([0xF4], 0xBF), ([0xC3, 0xA4], 0x80),
        ([0xCE, 0xBA, 0xE1, 0xBD], 0xED),
    ]

    @Test(arguments: valid) func `Valid text comes out as it went in, wherever it is cut`(text: String) {
        let bytes = Array(text.utf8)
        expect(Outcome.read(ClientFrame.text(text)), is: [.text(text)])
        for place in 0...bytes.count {
            let parts = ClientFrame.bytes(0x01, bytes[..<place]) + ClientFrame.bytes(0x80, bytes[place...])
            expect(Outcome.read(parts), is: [.text(text)])
        }
        let single = bytes.flatMap { ClientFrame.bytes(0x00, [$0]) + ClientFrame.bytes(0x89) }
        let all = ClientFrame.bytes(0x01) + single + ClientFrame.bytes(0x80)
        expect(Outcome.read(all).last, is: .text(text))
    }

    @Test(arguments: invalid)
    func `The first wrong byte fails before the frame is complete`(before: [UInt8], wrong: UInt8) {
        for lead in [0, 3, 8, 13] {
            let valid = [UInt8](repeating: 0x61, count: lead) + before
            let bytes = ClientFrame.bytes(0x81, valid + [wrong], length: [100])
            expectEmpty(Outcome.read(bytes.dropLast()))
            expect(Outcome.read(bytes), is: [.failure(.invalidText)])
        }
    }

    @Test(arguments: invalid) func `The first wrong byte fails in a later fragment`(before: [UInt8], wrong: UInt8) {
        for place in 0...before.count {
            let start =
                ClientFrame.bytes(0x01, before[..<place]) + ClientFrame.bytes(0x89)
                + ClientFrame.bytes(0x00, before[place...])
            expect(Outcome.read(start), is: [.ping([])])
            let bytes = start + ClientFrame.bytes(0x00, [wrong], length: [100])
            expect(Outcome.read(bytes), is: [.ping([]), .failure(.invalidText)])
        }
    }

    @Test(arguments: [[0xC2], [0xE0, 0xA0], [0xED, 0x9F], [0xF0, 0x90, 0x80], [0xF4]] as [[UInt8]])
    func `A text does not end inside a code point`(end: [UInt8]) {
        expect(Outcome.read(ClientFrame.bytes(0x81, [0x61] + end)), is: [.failure(.invalidText)])
        let parts = ClientFrame.bytes(0x01, end)
        expectEmpty(Outcome.read(parts))
        expect(Outcome.read(parts + ClientFrame.bytes(0x80)), is: [.failure(.invalidText)])
    }

    @Test(arguments: 0x7F...0xFF as ClosedRange<UInt8>)
    func `The check agrees with the standard library on two to four bytes`(lead: UInt8) {
        let edges: [UInt8] = [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
        for second in edges {
            for third in edges {
                let bytes = [lead, second, third, 0x80]
                for end in 2...4 {
                    let isText = String(validating: bytes[..<end], as: UTF8.self) != nil
                    if isValid(bytes[..<end]) != isText { Issue.record("\(bytes[..<end])") }
                }
            }
        }
    }

    private func isValid(_ bytes: ArraySlice<UInt8>) -> Bool {
        var check = UTF8Check()
        return bytes.withUnsafeBytes { check.accepts($0) } && check.isComplete
    }
}
