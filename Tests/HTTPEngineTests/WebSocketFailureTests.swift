import Expectations
import HTTPTypes
import Mutations
import Testing
import Wire

@testable import HTTPEngine

/// What breaks a WebSocket; each test and rule names its section of RFC 6455.
@Suite struct WebSocketFailureTests {
    private typealias Outcome = WebSocketOutcome

    private static let reservedOpcodes: [UInt8] = [0x3, 0x4, 0x5, 0x6, 0x7, 0xB, 0xC, 0xD, 0xE, 0xF]
    private static let controls: [UInt8] = [0x88, 0x89, 0x8A]
    /// Fragments that would continue something.
    private static let strays: [[UInt8]] = [ClientFrame.bytes(0x00, "a".utf8), ClientFrame.bytes(0x80, "a".utf8)]
    private static let codes: [UInt16] = [
        1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999,
    ]
    private static let forbiddenCodes: [UInt16] = [
        0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 1999, 2000, 2999, 5000, 9999, 65_535,
    ]

    private static let headers: [FrameRule] = [
        FrameRule(
            "Section 5-1: a client masks its frames",
            [[0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], [0x81, 0x00], [0x82, 0x7E], [0x89, 0x00], [0x88, 0x02]],
            .failure(.unmasked)),
        FrameRule(
            "Section 5-2: reserved opcodes mean nothing",
            reservedOpcodes.flatMap { [ClientFrame.bytes(0x80 | $0), ClientFrame.bytes($0, "a".utf8)] },
            .failure(.unknownOpcode)),
        FrameRule(
            "Section 5-2: reserved opcodes mean nothing behind a message",
            reservedOpcodes.map {
                ClientFrame.all(ClientFrame.text("a"), ClientFrame.bytes(0x80 | $0, "b".utf8), ClientFrame.bytes(0x89))
            },
            .text("a"), .failure(.unknownOpcode)),
        FrameRule(
            "Section 5-2: a length uses the fewest bytes",
            [0, 1, 125].map { ClientFrame.bytes(0x82, length: [126] + ClientFrame.bigEndian($0, 2)) }
                + [0, 125, 126, 65_535].map { ClientFrame.bytes(0x82, length: [127] + ClientFrame.bigEndian($0, 8)) },
            .failure(.malformedLength)),
        FrameRule(
            "Section 5-2: the highest bit of a length is zero",
            [Int.min, -1, Int.min + 65_536].map {
                ClientFrame.bytes(0x82, length: [127] + ClientFrame.bigEndian($0, 8))
            },
            limit: .max, .failure(.malformedLength)),
        FrameRule("Section 5-4: a fragment continues something", strays, .failure(.strayContinuation)),
        FrameRule(
            "Section 5-4: a fragment continues no whole message",
            strays.map { ClientFrame.all(ClientFrame.text("a"), $0) },
            .text("a"), .failure(.strayContinuation)),
        FrameRule(
            "Section 5-4: a fragment continues no message that has ended",
            strays.map { ClientFrame.all(ClientFrame.bytes(0x01), ClientFrame.bytes(0x80), $0) },
            .text(""), .failure(.strayContinuation)),
        FrameRule(
            "Section 5-4: a fragment continues no ping", strays.map { ClientFrame.all(ClientFrame.bytes(0x89), $0) },
            .ping([]), .failure(.strayContinuation)),
    ]

    private static let controlFrames: [FrameRule] = [
        FrameRule(
            "Section 5-5: a control frame is no fragment",
            controls.flatMap { (control: UInt8) -> [[UInt8]] in
                let first = control & 0x0F
                return [
                    ClientFrame.bytes(first),
                    ClientFrame.all(ClientFrame.bytes(first, [3, 0xE8]), ClientFrame.bytes(0x80)),
                    ClientFrame.all(ClientFrame.bytes(0x01), ClientFrame.bytes(first)),
                ]
            },
            .failure(.fragmentedControl)),
        FrameRule(
            "Section 5-5: a control frame has at most 125 bytes",
            controls.flatMap { (control: UInt8) -> [[UInt8]] in
                [126, 127, 65_536].map { ClientFrame.bytes(control, [UInt8](repeating: 0x61, count: $0)) }
            },
            .failure(.longControl)),
        FrameRule(
            "Section 5-5-1: a close frame has no half code", [ClientFrame.bytes(0x88, [0x03])],
            .failure(.malformedClose)),
        FrameRule(
            "Section 5-5-1: nothing comes after a close frame",
            [ClientFrame.all(ClientFrame.close(1000, "bye".utf8), ClientFrame.bytes(0x89), ClientFrame.bytes(0x83))],
            .close(.normal, "bye")),
        FrameRule(
            "Section 7-4: codes that no frame may have",
            forbiddenCodes.flatMap { [ClientFrame.close($0), ClientFrame.close($0, "reason".utf8)] },
            .failure(.invalidCloseCode)),
        FrameRule(
            "Section 8-1: a reason is UTF-8",
            [[0xCE], [0x61, 0xED, 0xA0, 0x80], [0xFF, 0x61], [0xC0, 0x80]].map { (reason: [UInt8]) -> [UInt8] in
                ClientFrame.close(1000, reason)
            },
            .failure(.invalidText)),
    ]

    /// The begin of a message of eight bytes, with a ping in between.
    private static let begun: [UInt8] = ClientFrame.all(
        ClientFrame.bytes(0x01, "aaaa".utf8), ClientFrame.bytes(0x89), ClientFrame.bytes(0x00, "bbbb".utf8))

    private static let limits: [FrameRule] = [
        FrameRule(
            "Section 7-4-1: the limit is that of the whole message",
            [
                ClientFrame.all(begun, ClientFrame.bytes(0x80, length: [3])),
                ClientFrame.all(begun, ClientFrame.bytes(0x00, length: [127] + ClientFrame.bigEndian(.max, 8))),
            ],
            limit: 10, .ping([]), .failure(.messageTooBig)),
        FrameRule(
            "Section 7-4-1: a whole message at the limit is not over it",
            [ClientFrame.all(begun, ClientFrame.bytes(0x80, "cc".utf8))], limit: 10,
            .ping([]), .text("aaaabbbbcc")),
        FrameRule(
            "Section 7-4-1: control frames do not count",
            [ClientFrame.all(ClientFrame.bytes(0x01), ClientFrame.bytes(0x89, "ping".utf8), ClientFrame.bytes(0x80))],
            limit: 0, .ping(Array("ping".utf8)), .text("")),
    ]

    @Test(arguments: headers + controlFrames + limits) func `Frames are read as their rule says`(rule: FrameRule) {
        rule.expectOutcomes()
    }

    @Test(arguments: [0x10, 0x20, 0x40, 0x30, 0x50, 0x60, 0x70] as [UInt8])
    func `Section 5-2: reserved bits are zero`(bits: UInt8) {
        for opcode: UInt8 in [0x81, 0x01, 0x82, 0x88, 0x89, 0x8A] {
            expect(Outcome.read(ClientFrame.bytes(opcode | bits)), is: [.failure(.reservedBit)])
        }
        let between = ClientFrame.bytes(0x01, "a".utf8) + ClientFrame.bytes(0x80 | bits, "b".utf8)
        expect(Outcome.read(between), is: [.failure(.reservedBit)])
    }

    @Test(arguments: [0x01, 0x81, 0x02, 0x82] as [UInt8])
    func `Section 5-4: no message begins inside another`(first: UInt8) {
        for opened: UInt8 in [0x01, 0x02] {
            let bytes =
                ClientFrame.bytes(opened, "a".utf8) + ClientFrame.bytes(0x89) + ClientFrame.bytes(first, "b".utf8)
            expect(Outcome.read(bytes), is: [.ping([]), .failure(.interruptedMessage)])
        }
    }

    @Test func `Sections 7-1-6 and 7-4: codes that a frame may have, and reasons that fill it`() {
        for code in Self.codes {
            for reason in [[], Array("grün".utf8), [UInt8](repeating: UInt8(ascii: "*"), count: 123)] {
                expect(Outcome.read(ClientFrame.close(code, reason)), is: [.close(code, reason)])
            }
        }
    }

    @Test(arguments: [0x81, 0x01, 0x82, 0x02] as [UInt8])
    func `Section 7-4-1: a message over the limit fails with its header`(first: UInt8) {
        for (length, written) in [
            (11, [11]), (300, [126, 1, 44]), (1 << 40, [127] + ClientFrame.bigEndian(1 << 40, 8)),
        ] {
            let header = ClientFrame.bytes(first, length: written.map { UInt8($0) })
            expect(Outcome.read(header, limit: 10), is: [.failure(.messageTooBig)], "\(length)")
            expectEmpty(Outcome.read(header, limit: length))
        }
        expect(
            Outcome.read(ClientFrame.bytes(first, length: [127] + ClientFrame.bigEndian(.max, 8)), limit: .max - 1),
            is: [.failure(.messageTooBig)])
    }

    @Test(arguments: WebSocketFailure.allCases)
    func `Section 7-4-1: every failure has a code that is sent and a reason of its own`(failure: WebSocketFailure) {
        let closure = failure.closure
        expect([.protocolError, .invalidPayload, .messageTooBig].contains(closure.code), is: true, "\(closure)")
        expect(closure.code.isAllowedInFrame, is: true)
        expect((1...123).contains(closure.reason.utf8.count), is: true, "\(closure)")
        expect(WebSocketFailure.allCases.filter { $0.closure == closure }, is: [failure])
    }
}

/// The server's half of the opening handshake, RFC 6455 section 4.2.2.
@Suite struct WebSocketAnswerTests {
    private func upgrade(
        key: String = "dGhlIHNhbXBsZSBub25jZQ==", offers: String? = nil, chosen: String? = nil
    ) throws -> WebSocketUpgrade {
        var fields = [
            ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", key),
        ]
        if let offers { fields.append(("Sec-WebSocket-Protocol", offers)) }
        let handshake = try WebSocketHandshake(Request(method: .get, target: "/chat", fields: FieldLines(fields)))
        return WebSocketUpgrade(handshake, handler: NobodyListens(), subprotocol: chosen)
    }

    @Test(arguments: [
        ("dGhlIHNhbXBsZSBub25jZQ==", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
        ("x3JJHMbDL1EzLkh9GBhXDw==", "HSmrc0sMlYUkAGmm5OPpG2HaGWk="),
    ])
    func `Section 1-3: the accept value is made of the key`(key: String, value: String) throws {
        expect(try upgrade(key: key).handshake.acceptValue, is: value)
    }

    @Test func `Section 4-2-2: the answer names the protocol and the accept value`() throws {
        let fields = try upgrade().answerFields()
        expect(fields, is: [.upgrade: "websocket", .secWebSocketAccept: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="])
    }

    @Test(
        arguments: [
            ("chat, superchat", "superchat", "superchat"), ("chat", "chat", "chat"), ("chat", nil, nil),
            ("chat", "superchat", nil), ("chat", "Chat", nil), (nil, "chat", nil), ("chat", "", nil),
        ] as [(String?, String?, String?)])
    func `Section 4-2-2: a subprotocol is named when it is offered and chosen`(
        offers: String?, chosen: String?, named: String?
    ) throws {
        let fields = try upgrade(offers: offers, chosen: chosen).answerFields()
        expect(fields[.secWebSocketProtocol], is: named)
    }

    @Test func `Section 4-2-2: a handler's fields stay, but for those of the handshake`() throws {
        let fields = try upgrade(offers: "chat").answerFields(with: [
            .server: "s", .setCookie: "a=b", .upgrade: "h2c", .secWebSocketAccept: "x", .secWebSocketProtocol: "chat",
            .secWebSocketExtensions: "permessage-deflate", .secWebSocketVersion: "8",
        ])
        expect(
            fields,
            is: [
                .server: "s", .setCookie: "a=b", .upgrade: "websocket",
                .secWebSocketAccept: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
            ])
    }
}

/// Feeds the frame reader randomly damaged frames, the same ones in every run.
@Suite struct WebSocketFramesMutationTests {
    @Test(arguments: 0..<8) func `Damaged frames come to the same, whatever the portions`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var tally: [Bool: Int] = [:]
        for number in 0..<max(1, Mutation.inputs / 8) {
            let input = FrameMutation.input(&random)
            let limit = Bool.random(using: &random) ? 1024 : Int.random(in: 0...40, using: &random)
            let whole = WebSocketOutcome.read(input, portions: [.max], limit: limit)
            let single = WebSocketOutcome.read(input, portions: [1], limit: limit)
            let sizes = (0..<64).map { _ in Int.random(in: 1...40, using: &random) }
            let portions = WebSocketOutcome.read(input, portions: sizes, limit: limit)
            guard whole == single, whole == portions, isSound(whole, limit) else {
                Issue.record("seed \(seed), input \(number): \(input): \(whole) / \(single) / \(portions)")
                return
            }
            for outcome in whole { tally[outcome.isFailure, default: 0] += 1 }
        }
        // If all or none of the inputs failed, this would test nothing.
        expect(tally[true, default: 0], above: Mutation.inputs / 80)
        expect(tally[false, default: 0], above: Mutation.inputs / 80)
    }

    /// Whether no outcome before the last ends the connection, and handlers may see all of them.
    private func isSound(_ outcomes: [WebSocketOutcome], _ limit: Int) -> Bool {
        outcomes.dropLast().allSatisfy { !$0.isLast } && outcomes.allSatisfy { $0.isAllowed(limit) }
    }
}

extension WebSocketOutcome {
    fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }

    /// Restates the guarantees that handlers rely on.
    fileprivate func isAllowed(_ limit: Int) -> Bool {
        switch self {
        case .text(let bytes): bytes.count <= limit && String(validating: bytes, as: UTF8.self) != nil
        case .binary(let bytes): bytes.count <= limit
        case .ping(let bytes), .pong(let bytes): bytes.count <= 125
        case .close(let code, let reason):
            code >= 1000 && code < 5000 && ![1004, 1006, 1015].contains(code) && (code < 1016 || code >= 3000)
                && reason.count <= 123 && (code != 1005 || reason.isEmpty)
        case .failure(let closure): [1002, 1007, 1009].contains(closure.code.rawValue)
        }
    }
}

/// Valid frames and ways to damage them.
private enum FrameMutation {
    /// Frames that may follow one another; the last ones end a connection and are rarely used.
    private static let seeds: [[UInt8]] = [
        ClientFrame.text("Hello"), ClientFrame.text("grün κόσμε 😀 and ASCII behind it"),
        ClientFrame.text("\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}"), ClientFrame.bytes(0x82, 0...20),
        ClientFrame.bytes(0x82, [UInt8](repeating: 0xFE, count: 200)),
        ClientFrame.bytes(0x01, "Hel".utf8) + ClientFrame.bytes(0x80, "lo".utf8),
        ClientFrame.bytes(0x01, [0xF0, 0x9F]) + ClientFrame.bytes(0x89, [1]) + ClientFrame.bytes(0x80, [0x98, 0x80]),
        ClientFrame.bytes(0x02) + ClientFrame.bytes(0x00, [0xFF]) + ClientFrame.bytes(0x80),
        ClientFrame.bytes(0x89, "ping".utf8), ClientFrame.bytes(0x89), ClientFrame.bytes(0x8A, "pong".utf8),
        ClientFrame.bytes(0x81, "no mask to speak of".utf8, key: [0, 0, 0, 0]),
        ClientFrame.bytes(0x88, [0x03, 0xE8] + "bye, grün".utf8, key: [0, 0, 0, 0]), ClientFrame.close(1001),
    ]
    private static let pieces: [[UInt8]] = [
        [0x81], [0x80], [0x01], [0x00], [0x82], [0x88], [0x89], [0xC1], [0x83], [0xFE], [0xFF], [0x7F],
        [0xFE, 0x00, 0x7E], [0xFE, 0x00, 0x7D], [0xFF, 0, 0, 0, 0, 0, 1, 0, 0], [0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0],
        [0xED, 0xA0, 0x80], [0xC3], [0xF4, 0x90], [0xF0, 0x9F, 0x98, 0x80], [0, 0, 0, 0], [0x88, 0x80, 0, 0, 0, 0],
        [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xED], [0x89, 0x80, 1, 2, 3, 4], [0x00, 0x80, 9, 9, 9, 9],
    ]

    /// One to four consecutive messages with up to three damages.
    static func input(_ random: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...4, using: &random) { bytes += seeds.randomElement(using: &random) ?? [] }
        for _ in 0..<Int.random(in: 0...3, using: &random) { damage(&bytes, &random) }
        return bytes
    }

    private static func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        guard Bool.random(using: &random) else { return Mutation.apply(to: &bytes, using: &random) }
        let start = Int.random(in: 0...bytes.count, using: &random)
        let piece = pieces.randomElement(using: &random) ?? []
        let end = Bool.random(using: &random) ? start : min(bytes.count, start + piece.count)
        bytes.replaceSubrange(start..<end, with: piece)
    }
}
