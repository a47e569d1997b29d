import HTTPTypes
import Testing
import Wire

@testable import HTTPEngine

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
        #expect(try upgrade(key: key).handshake.acceptValue == value)
    }

    @Test func `Section 4-2-2: the answer names the protocol and the accept value`() throws {
        let fields = try upgrade().answerFields()
        #expect(fields == [.upgrade: "websocket", .secWebSocketAccept: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="])
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
        #expect(fields[.secWebSocketProtocol] == named)
    }

    @Test func `Section 4-2-2: a handler's fields stay, but for those of the handshake`() throws {
        let fields = try upgrade(offers: "chat").answerFields(with: [
            .server: "s", .setCookie: "a=b", .upgrade: "h2c", .secWebSocketAccept: "x", .secWebSocketProtocol: "chat",
            .secWebSocketExtensions: "permessage-deflate", .secWebSocketVersion: "8",
        ])
        #expect(
            fields == [
                .server: "s", .setCookie: "a=b", .upgrade: "websocket",
                .secWebSocketAccept: "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
            ])
    }
}
