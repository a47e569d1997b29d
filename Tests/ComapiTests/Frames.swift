import JSON
import Support
import Testing
import Wire

extension LiveSocket {
    /// How the socket closes, ignoring everything before.
    var closure: WebSocketClosure? {
        get async {
            while true {
                switch await next() {
                case .closed(let closure): return closure
                case .text, .binary, .pong: continue
                }
            }
        }
    }

    /// The next message as JSON; `null` for other messages and at the end.
    func frame() async -> JSON {
        guard case .text(let text) = await next() else { return .null }
        return (try? JSON.parse(text.utf8)) ?? .null
    }

    /// The next `count` frames.
    func frames(_ count: Int) async -> [JSON] {
        var frames: [JSON] = []
        while frames.count < count { frames.append(await frame()) }
        return frames
    }
}

extension World {
    /// The socket of a session, after the greeting.
    func socket(_ session: Session) async throws -> LiveSocket {
        let socket = try await openSocket(Example.path("/socket?token=\(session.token)"))
        let greeting = await socket.frame()
        #expect(greeting["name"] == "socket.info")
        return socket
    }
}

extension JSON {
    /// The value, with each member that differs every time replaced by its name.
    func without(_ names: Set<String>) -> JSON {
        switch self {
        case .object(let object):
            .object(
                JSONObject(
                    object.map { ($0.name, names.contains($0.name) ? .string($0.name) : $0.value.without(names)) }))
        case .array(let elements): .array(elements.map { $0.without(names) })
        case .null, .bool, .number, .string: self
        }
    }
}

extension LiveSocket.Event {
    /// Whether the socket closed with this code.
    func isClosed(with code: WebSocketClosure.Code) -> Bool {
        if case .closed(let closure) = self { closure.code == code } else { false }
    }
}
