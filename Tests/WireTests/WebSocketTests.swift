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
        #expect(WebSocket(one) == WebSocket(one))
        #expect(WebSocket(one) != WebSocket(other))
        #expect(Set([WebSocket(one), WebSocket(other), WebSocket(one)]).count == 2)
        #expect(WebSocket(one).id == ObjectIdentifier(one))
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
        #expect(response.status == .switchingProtocols)
        #expect(response.fields == [.server: "s"])
        #expect(response.upgrade?.handshake == upgrade.handshake)
        #expect(!response.isPlain)
        response.transmission = Transmission(delay: .seconds(1))
        #expect(response.upgrade?.handshake == upgrade.handshake)
        #expect(Response(status: .ok).isPlain)
    }
}
