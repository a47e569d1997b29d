import Expectations
import HTTPTypes
import Testing
import Wire

@Suite struct WebSocketTests {
    /// A channel that ignores everything.
    private final class Nowhere: WebSocket.Channel {
        func send(_ message: WebSocketMessage) {}
        func close(_ closure: WebSocketClosure) {}
    }

    private struct Nobody: WebSocketHandler {
        func opened(_ socket: WebSocket) {}
        func received(_ message: WebSocketMessage, on socket: WebSocket) {}
        func closed(_ socket: WebSocket, _ closure: WebSocketClosure) {}
    }

    @Test func `Two ends are the same when one channel carries both`() {
        let (one, other) = (Nowhere(), Nowhere())
        expect(WebSocket(one), is: WebSocket(one))
        #expect(WebSocket(one) != WebSocket(other))
        expect(Set([WebSocket(one), WebSocket(other), WebSocket(one)]).count, is: 2)
        expect(WebSocket(one).id, is: ObjectIdentifier(one))
    }

    @Test func `A response that accepts a handshake says so and carries it`() throws {
        let request = Request(
            method: .get, target: "/",
            fields: [
                "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
                "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
            ])
        let upgrade = WebSocketUpgrade(try WebSocketHandshake(request), handler: Nobody())
        var response = Response.webSocket(upgrade, fields: [.server: "s"])
        expect(response.status, is: .switchingProtocols)
        expect(response.fields, is: [.server: "s"])
        expect(response.upgrade?.handshake, is: upgrade.handshake)
        expect(response.isPlain, is: false)
        response.transmission = Transmission(delay: .seconds(1))
        expect(response.upgrade?.handshake, is: upgrade.handshake)
        expect(Response(status: .ok).isPlain, is: true)
    }
}

/// What opens a WebSocket and what does not; each test names its section of RFC 6455, or another source.
@Suite struct WebSocketHandshakeTests {
    private static let key = "dGhlIHNhbXBsZSBub25jZQ=="

    /// The request of RFC 6455 section 1.2 with these fields replaced; `nil` omits one.
    private func request(
        _ changes: [String: String?] = [:], more: [(String, String)] = [], method: HTTPRequest.Method = .get,
        version: Request.Version = .http1_1, body: [UInt8] = []
    ) -> Request {
        let usual = [
            ("Host", "server.example.com"), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
            ("Sec-WebSocket-Key", Self.key), ("Origin", "http://example.com"),
            ("Sec-WebSocket-Protocol", "chat, superchat"), ("Sec-WebSocket-Version", "13"),
        ]
        let fields = usual.compactMap { name, value in (changes[name] ?? value).map { (name, $0) } }
        return Request(method: method, target: "/chat", fields: FieldLines(fields + more), body: body, version: version)
    }

    private func problem(_ request: Request) -> WebSocketHandshake.Problem? {
        do throws(WebSocketHandshake.Problem) {
            _ = try WebSocketHandshake(request)
            return nil
        } catch {
            return error
        }
    }

    @Test func `Section 1-2: the sample opens a WebSocket`() throws {
        let handshake = try WebSocketHandshake(request())
        expect(handshake.key, is: Self.key)
        expect(handshake.subprotocols, is: ["chat", "superchat"])
    }

    @Test(arguments: [
        ("Upgrade", ["websocket", "WebSocket", "WEBSOCKET", "h2c, websocket", "websocket ,h2c", "foo,WebSocket"]),
        ("Connection", ["Upgrade", "upgrade", "keep-alive, Upgrade", "UPGRADE,keep-alive"]),
        // Any 16 bytes are a key.
        ("Sec-WebSocket-Key", ["AAAAAAAAAAAAAAAAAAAAAA==", "/////////////////////w==", "+/+/+/+/+/+/+/+/+/+/+g=="]),
    ])
    func `Section 4-2-1: what offers a WebSocket, among others and in any case`(name: String, values: [String]) {
        for value in values { expect(problem(request([name: value])), is: nil, value) }
    }

    @Test(
        arguments: [
            ("Upgrade", nil), ("Upgrade", ""), ("Upgrade", "h2c"), ("Upgrade", "websocket/13"),
            ("Upgrade", "web socket"), ("Upgrade", "websoc\u{212A}et"), ("Upgrade", "websocke\u{54}\u{301}"),
            ("Connection", nil), ("Connection", "keep-alive"), ("Connection", "upgraded"), ("Connection", "close"),
        ] as [(String, String?)])
    func `Section 4-2-1: what does not offer a WebSocket`(name: String, value: String?) {
        expect(problem(request([name: value])), is: .notOffered)
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .head, .options])
    func `Section 4-2-1: the method is GET`(method: HTTPRequest.Method) {
        expect(problem(request(method: method)), is: .notGet)
    }

    @Test func `Section 4-2-1: the version is at least 1-1`() {
        expect(problem(request(version: .http1_0)), is: .oldHTTP)
    }

    @Test func `RFC 9110 section 7-8: content would stand between the protocols`() {
        expect(problem(request(body: [1])), is: .hasContent)
        var large = request()
        large.bodyExceedsLimit = true
        expect(problem(large), is: .hasContent)
    }

    @Test(arguments: [nil, "", "8", "7", "0", "14", "013", "+13", "13, 8", "13.0", "١٣"] as [String?])
    func `Section 4-2-1: the version of the protocol is 13`(value: String?) {
        expect(problem(request(["Sec-WebSocket-Version": value])), is: .unsupportedVersion)
    }

    @Test func `Section 11-3-5: the version comes once`() {
        expect(problem(request(more: [("Sec-WebSocket-Version", "13")])), is: .unsupportedVersion)
    }

    @Test(
        arguments: [
            nil, "", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25jZR==",
            "dGhlIHNhbXBsZSBub25j", "dGhlIHNhbXBsZSBub25jZQ==AAAA", "dGhlIHNhbXBsZSBub25jZSE=",
            "dGhlIHNhbXBsZSBub25-ZQ==", "dGhlIHNhbXBsZSBub25 ZQ==", "dGhlIHNhbXBsZSBub25jQ===",
            "========================", "dGhlIHNhbXBsZSBub25jZQ==, dGhlIHNhbXBsZSBub25jZQ==",
            "ädGhlIHNhbXBsZSBub2jZQ==",
        ] as [String?])
    func `Section 4-2-1: the key is 16 bytes in base64`(value: String?) {
        expect(problem(request(["Sec-WebSocket-Key": value])), is: .invalidKey)
    }

    @Test func `Section 11-3-1: the key comes once`() {
        expect(problem(request(more: [("Sec-WebSocket-Key", Self.key)])), is: .invalidKey)
    }

    @Test func `Section 11-3-4: subprotocols may come in several lines, or not at all`() throws {
        let several = try WebSocketHandshake(request(more: [("Sec-WebSocket-Protocol", "third,fourth")]))
        expect(several.subprotocols, is: ["chat", "superchat", "third", "fourth"])
        expectEmpty(try WebSocketHandshake(request(["Sec-WebSocket-Protocol": nil])).subprotocols)
    }

    @Test func `Section 4-2-1: origin, subprotocols, extensions and unknown fields are optional`() throws {
        let bare = request(["Origin": nil, "Sec-WebSocket-Protocol": nil])
        expect(problem(bare), is: nil)
        let more = [("Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits"), ("X-Any", "thing")]
        expect(problem(request(more: more)), is: nil)
    }

    @Test(arguments: WebSocketHandshake.Problem.allCases)
    func `Section 4-2-2 and RFC 9110 section 15-5-22: a status of 426 says what to upgrade to, and the rest is bad`(
        problem: WebSocketHandshake.Problem
    ) {
        let isSolved = [.notOffered, .unsupportedVersion].contains(problem)
        expect(problem.response.status, is: isSolved ? .upgradeRequired : .badRequest)
        expect(problem.response.fields[.upgrade], is: isSolved ? "websocket" : nil)
        expect(problem.response.fields[.secWebSocketVersion], is: problem == .unsupportedVersion ? "13" : nil)
    }
}
