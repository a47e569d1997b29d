import Testing
import Wire

@testable import HTTPEngine

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
            #expect(outcome == whole, "in portions of \(portion)", sourceLocation: sourceLocation)
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
