import Expectations
import Testing
import Wire

@testable import HTTPEngine

/// How a server answers frames and ends a WebSocket; each test names its section of RFC 6455.
@Suite struct WebSocketConversationTests {
    private typealias Outcome = ConversationOutcome

    private static let rules: [ConversationRule] = [
        ConversationRule(
            "Section 5-6: messages go to the handler and nothing is answered",
            ClientFrame.all(ClientFrame.text("a"), ClientFrame.bytes(0x82, [1])),
            Outcome(events: [.message(.text("a")), .message(.binary([1]))])),
        ConversationRule(
            "Section 5-5-2: a ping is answered with its own payload",
            ClientFrame.all(ClientFrame.bytes(0x89, "Hello".utf8), ClientFrame.bytes(0x89)),
            Outcome(
                events: [.handled, .handled], output: [0x8A, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x8A, 0x00])),
        ConversationRule(
            "Section 5-5-2: a ping between fragments is answered before the message is complete",
            ClientFrame.all(ClientFrame.bytes(0x01, "a".utf8), ClientFrame.bytes(0x89, [7])),
            Outcome(events: [.handled], output: [0x8A, 1, 7])),
        ConversationRule(
            "Section 5-5-2: a message with a ping between its fragments is complete",
            ClientFrame.all(
                ClientFrame.bytes(0x01, "a".utf8), ClientFrame.bytes(0x89, [7]), ClientFrame.bytes(0x80, "b".utf8)),
            Outcome(events: [.handled, .message(.text("ab"))], output: [0x8A, 1, 7])),
        ConversationRule(
            "Section 5-5-3: a pong that nobody asked for is not answered", ClientFrame.bytes(0x8A, [1, 2]),
            Outcome(events: [.handled])),
        ConversationRule(
            "Section 7-1-5: a close frame without a code is answered by one without", ClientFrame.bytes(0x88),
            Outcome(events: [.ended(.init(.noStatus))], output: [0x88, 0], hasEnded: true)),
    ]

    @Test(arguments: rules) func `A conversation goes as its rule says`(rule: ConversationRule) throws {
        expect(try Outcome.of(rule.bytes), is: rule.outcome)
    }

    @Test func `Section 5-5-2: pings behind one another are answered one a call`() throws {
        var conversation = WebSocketConversation(try Outcome.upgrade())
        let pings = (0..<1000).flatMap { ClientFrame.bytes(0x89, [UInt8(truncatingIfNeeded: $0)]) }
        pings.withUnsafeBytes { conversation.receive($0) }
        for number in 0..<1000 {
            expect(conversation.bufferedCount, is: (1000 - number) * 7)
            var output: [UInt8] = []
            guard case .handled = conversation.next(into: &output) else {
                Issue.record("no ping")
                return
            }
            expect(output, is: [0x8A, 1, UInt8(truncatingIfNeeded: number)])
        }
        expect(conversation.bufferedCount, is: 0)
    }

    @Test(arguments: [1000, 1001, 1007, 1011, 3000, 4999] as [UInt16])
    func `Sections 5-5-1 and 7-1-2: the client's close frame is answered with its code`(code: UInt16) throws {
        let outcome = try Outcome.of(ClientFrame.close(code, "bye".utf8) + ClientFrame.bytes(0x89))
        let closure = WebSocketClosure(.init(rawValue: code), reason: "bye")
        let answer: [UInt8] = [0x88, 2, UInt8(code >> 8), UInt8(code & 0xFF)]
        expect(outcome, is: Outcome(events: [.ended(closure)], output: answer, hasEnded: true))
    }

    @Test(arguments: [
        (ClientFrame.bytes(0x83), WebSocketFailure.unknownOpcode), (ClientFrame.bytes(0x81, [0xFF]), .invalidText),
        (ClientFrame.bytes(0x82, length: [126, 4, 1]), .messageTooBig), (ClientFrame.close(1005), .invalidCloseCode),
    ])
    func `Section 7-1-7: a failure is answered with a close frame`(bytes: [UInt8], failure: WebSocketFailure) throws {
        let outcome = try Outcome.of(ClientFrame.text("a") + bytes + ClientFrame.text("b"))
        var answer: [UInt8] = []
        WebSocketEncoder.encode(failure.closure, into: &answer)
        expect(
            outcome,
            is: Outcome(events: [.message(.text("a")), .ended(failure.closure)], output: answer, hasEnded: true))
    }

    @Test func `Section 7-1-1: the server closes, and waits for the client's close frame`() throws {
        let closure = WebSocketClosure(.goingAway, reason: "over")
        let outcome = try Outcome.of([]) { $0.close(closure, into: &$1) }
        expect(outcome, is: Outcome(output: [0x88, 6, 0x03, 0xE9] + "over".utf8, isClosing: true))
    }

    @Test func `Section 5-5-1: after the own close frame nothing more is sent`() throws {
        let bytes = ClientFrame.text("late") + ClientFrame.bytes(0x89, [1])
        let outcome = try Outcome.of(bytes) { conversation, output in
            conversation.close(WebSocketClosure(.normal), into: &output)
            conversation.send(.text("more"), into: &output)
            conversation.close(WebSocketClosure(.goingAway), into: &output)
        }
        expect(outcome, is: Outcome(events: [.handled, .handled], output: [0x88, 2, 0x03, 0xE8], isClosing: true))
    }

    @Test(arguments: [
        ClientFrame.close(1000), ClientFrame.close(4000, "mine".utf8), ClientFrame.bytes(0x88), ClientFrame.bytes(0x83),
    ])
    func `Section 7-1-5: who closes first decides what is reported`(last: [UInt8]) throws {
        let closure = WebSocketClosure(.init(rawValue: 3001), reason: "ours")
        let outcome = try Outcome.of(ClientFrame.text("late") + last) { $0.close(closure, into: &$1) }
        let answer: [UInt8] = [0x88, 6, 0x0B, 0xB9] + "ours".utf8
        expect(outcome, is: Outcome(events: [.handled, .ended(closure)], output: answer, hasEnded: true))
    }

    @Test func `Section 7-1-7: after the end nothing is sent, read or kept`() throws {
        var conversation = WebSocketConversation(try Outcome.upgrade())
        var output: [UInt8] = []
        ClientFrame.close(1000).withUnsafeBytes { conversation.receive($0) }
        guard case .ended = conversation.next(into: &output) else {
            Issue.record("no end")
            return
        }
        output = []
        ClientFrame.text("a").withUnsafeBytes { conversation.receive($0) }
        expect(conversation.bufferedCount, is: 0)
        #expect(conversation.next(into: &output) == nil)
        conversation.send(.text("a"), into: &output)
        conversation.close(WebSocketClosure(.normal), into: &output)
        expectEmpty(output)
        expect([conversation.hasEnded, conversation.isClosing], is: [true, false])
    }

    @Test func `Section 6-1: messages are sent in the order of the calls`() throws {
        let outcome = try Outcome.of([]) { conversation, output in
            conversation.send(.text("a"), into: &output)
            conversation.send(.binary([2]), into: &output)
        }
        expect(outcome.output, is: [0x81, 1, 0x61, 0x82, 1, 2])
    }

    @Test func `Section 7-4-1: the limit is that of the upgrade`() throws {
        expect(try Outcome.of(ClientFrame.text("abc"), limit: 3).events, is: [.message(.text("abc"))])
        expect(
            try Outcome.of(ClientFrame.text("abcd"), limit: 3).events,
            is: [.ended(WebSocketFailure.messageTooBig.closure)])
    }
}

/// The outcome of a conversation in comparable form.
struct ConversationOutcome: Hashable {
    enum Event: Hashable {
        case message(WebSocketMessage)
        case handled
        case ended(WebSocketClosure)
    }

    var events: [Event] = []
    var output: [UInt8] = []
    var isClosing = false
    var hasEnded = false

    /// Feeds these bytes to new conversations in portions of various sizes; all outcomes must be equal.
    ///
    /// `beginning` runs before the first byte.
    static func of(
        _ bytes: [UInt8], limit: Int = 1024, sourceLocation: SourceLocation = #_sourceLocation,
        beginning: (inout WebSocketConversation, inout [UInt8]) -> Void = { _, _ in }
    ) throws -> ConversationOutcome {
        let upgrade = try upgrade(limit: limit)
        let whole = of(bytes, portion: .max, upgrade, beginning)
        for portion in [1, 2, 3, 7, 16] {
            let outcome = of(bytes, portion: portion, upgrade, beginning)
            expect(outcome, is: whole, "in portions of \(portion)", sourceLocation: sourceLocation)
        }
        return whole
    }

    private static func of(
        _ bytes: [UInt8], portion: Int, _ upgrade: WebSocketUpgrade,
        _ beginning: (inout WebSocketConversation, inout [UInt8]) -> Void
    ) -> ConversationOutcome {
        var conversation = WebSocketConversation(upgrade)
        var outcome = ConversationOutcome()
        beginning(&conversation, &outcome.output)
        var start = 0
        while start < bytes.count {
            let end = start + min(portion, bytes.count - start)
            bytes[start..<end].withUnsafeBytes { conversation.receive($0) }
            while let event = conversation.next(into: &outcome.output) { outcome.events.append(Event(event)) }
            start = end
        }
        outcome.isClosing = conversation.isClosing
        outcome.hasEnded = conversation.hasEnded
        return outcome
    }

    /// An upgrade with that limit.
    static func upgrade(limit: Int = 1024) throws -> WebSocketUpgrade {
        let request = Request(
            method: .get, target: "/",
            fields: [
                "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
            ])
        return WebSocketUpgrade(try WebSocketHandshake(request), handler: NobodyListens(), maximumMessageBytes: limit)
    }
}

extension ConversationOutcome.Event {
    /// The event in comparable form.
    init(_ event: WebSocketConversation.Event) {
        switch event {
        case .message(let message): self = .message(message)
        case .handled: self = .handled
        case .ended(let closure): self = .ended(closure)
        }
    }
}

/// A rule of RFC 6455, and the bytes of a client with what they lead to.
struct ConversationRule: CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    let outcome: ConversationOutcome

    init(_ rule: String, _ bytes: [UInt8], _ outcome: ConversationOutcome) {
        (testDescription, self.bytes, self.outcome) = (rule, bytes, outcome)
    }
}

/// The outcome of a client's frames, comparable byte by byte.
enum WebSocketOutcome: Hashable {
    case text([UInt8])
    case binary([UInt8])
    case ping([UInt8])
    case pong([UInt8])
    case close(UInt16, [UInt8])
    case failure(WebSocketClosure)

    static func text(_ text: String) -> Self { .text(Array(text.utf8)) }
    static func close(_ code: WebSocketClosure.Code, _ reason: String = "") -> Self {
        .close(code.rawValue, Array(reason.utf8))
    }
    static func failure(_ failure: WebSocketFailure) -> Self { .failure(failure.closure) }

    /// Whether nothing may follow it.
    var isLast: Bool {
        switch self {
        case .close, .failure: true
        case .text, .binary, .ping, .pong: false
        }
    }

    /// The outcomes of the bytes fed at once, which must match those fed one by one and in odd portions.
    static func read(
        _ bytes: [UInt8], limit: Int = 1024, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [WebSocketOutcome] {
        let whole = read(bytes, portions: [.max], limit: limit)
        for portions in [[1], [2], [3, 1, 7, 2, 13, 5, 11], [1, 1, 64, 3]] {
            let outcomes = read(bytes, portions: portions, limit: limit)
            expect(outcomes, is: whole, "in portions of \(portions)", sourceLocation: sourceLocation)
        }
        return whole
    }

    /// Feeds the bytes in portions of these sizes, cyclically, and collects the outcomes.
    static func read(_ bytes: [UInt8], portions: [Int], limit: Int) -> [WebSocketOutcome] {
        var frames = WebSocketFrames(maximumMessageBytes: limit)
        var outcomes: [WebSocketOutcome] = []
        var start = 0
        var turn = 0
        while start < bytes.count {
            let end = start + min(portions[turn % portions.count], bytes.count - start)
            bytes[start..<end].withUnsafeBytes { frames.feed($0) }
            frames.collect(&outcomes)
            start = end
            turn += 1
        }
        return outcomes
    }
}

extension WebSocketFrames {
    fileprivate mutating func collect(_ outcomes: inout [WebSocketOutcome]) {
        // An outcome after an end is a fault; one is enough.
        while outcomes.dropLast().last?.isLast != true {
            switch next() {
            case .more:
                // Only a header may wait: payloads are passed on as they arrive.
                if bufferedCount >= 14 { Issue.record("\(bufferedCount) bytes wait for more") }
                return
            case .message(.text(let text)): outcomes.append(.text(text))
            case .message(.binary(let bytes)): outcomes.append(.binary(bytes))
            case .ping(let payload): outcomes.append(.ping(payload))
            case .pong(let payload): outcomes.append(.pong(payload))
            case .close(let closure): outcomes.append(.close(closure.code, closure.reason))
            case .failure(let closure): outcomes.append(.failure(closure))
            }
        }
    }
}

/// A rule of RFC 6455, and bytes of clients that all come to the same.
struct FrameRule: CustomTestStringConvertible {
    let testDescription: String
    private let inputs: [[UInt8]]
    private let limit: Int
    private let outcomes: [WebSocketOutcome]

    init(_ rule: String, _ inputs: [[UInt8]], limit: Int = 1024, _ outcomes: WebSocketOutcome...) {
        (testDescription, self.inputs, self.limit, self.outcomes) = (rule, inputs, limit, outcomes)
    }

    func expectOutcomes(at location: SourceLocation = #_sourceLocation) {
        for input in inputs {
            let found = WebSocketOutcome.read(input, limit: limit, sourceLocation: location)
            expect(found, is: outcomes, "\(testDescription): \(input.prefix(20))", sourceLocation: location)
        }
    }
}
