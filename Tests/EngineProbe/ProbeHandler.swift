import HTTPEngine
import HTTPTypes
import Synchronization
import Wire

/// Answers each path with one feature of the engine; the query sets the amount.
struct ProbeHandler: RequestHandler {
    private let sockets = EchoSockets()

    func admit(_ head: Request) -> Admission {
        Admission(bodyLimit: head.path == "/echo" ? 64 * 1024 * 1024 : 0, answer: answer)
    }

    func answer(_ request: Request) -> Answer {
        if request.bodyExceedsLimit { return .ready(.text("too large\n", status: .contentTooLarge)) }
        return .ready(response(to: request))
    }

    private func response(to request: Request) -> Response {
        let query = ProbeQuery(request)
        let pause = Duration.milliseconds(query.number("milliseconds"))
        switch request.path {
        case "/echo": return echo(request)
        case "/large":
            return Response(status: .ok, body: Array(repeating: UInt8(ascii: "x"), count: query.number("bytes")))
        case "/delay": return .text("late\n").sent(Transmission(delay: pause))
        case "/reset": return .text("never\n").sent(Transmission(fault: .reset))
        case "/empty": return .text("never\n").sent(Transmission(fault: .empty))
        case "/garbage": return .text("never\n").sent(Transmission(fault: .garbage))
        case "/truncate":
            return .text("0123456789\n").sent(Transmission(fault: .truncated(bytes: query.number("bytes"))))
        case "/drip":
            return .text("0123456789\n").sent(Transmission(fault: .drip(bytes: query.number("bytes"), every: pause)))
        case "/socket": return open(request, query)
        default: return .text("there is nothing here\n", status: .notFound)
        }
    }

    /// The parsed request: a line with method and target, then the content unchanged.
    private func echo(_ request: Request) -> Response {
        let line = "\(request.method.rawValue) \(request.target)\n"
        return Response(
            status: .ok, fields: [.contentType: "application/octet-stream"], body: Array(line.utf8) + request.body)
    }

    private func open(_ request: Request, _ query: ProbeQuery) -> Response {
        do throws(WebSocketHandshake.Problem) {
            let handshake = try WebSocketHandshake(request)
            return .webSocket(
                WebSocketUpgrade(
                    handshake, handler: sockets, subprotocol: query["subprotocol"], maximumMessageBytes: 256 * 1024))
        } catch {
            return error.response
        }
    }
}

/// The query of a target, with names and values as sent.
private struct ProbeQuery {
    private let values: [Substring: Substring]

    init(_ request: Request) {
        let pairs = (request.query ?? "").split(separator: "&").map { $0.split(separator: "=", maxSplits: 1) }
        values = Dictionary(pairs.map { ($0[0], $0.count == 2 ? $0[1] : "") }) { first, _ in first }
    }

    subscript(name: Substring) -> String? { values[name].map(String.init) }

    /// A number of at least 0; 0 if absent.
    func number(_ name: Substring) -> Int { values[name].flatMap { Int($0) }.map { max(0, $0) } ?? 0 }
}

extension Response {
    fileprivate func sent(_ transmission: Transmission) -> Response {
        var response = self
        response.transmission = transmission
        return response
    }
}

/// Echoes messages, and obeys text messages that start with one of these commands:
///
/// - `broadcast …` goes to all sockets.
/// - `flood N` sends N messages of 64 kB, one per millisecond, whether or not the client reads them.
/// - `close CODE REASON` closes.
final class EchoSockets: WebSocketHandler {
    private let open = Mutex<Set<WebSocket>>([])

    func opened(_ socket: WebSocket) { open.withLock { _ = $0.insert(socket) } }

    func closed(_ socket: WebSocket, _ closure: WebSocketClosure) { open.withLock { _ = $0.remove(socket) } }

    func received(_ message: WebSocketMessage, on socket: WebSocket) {
        guard case .text(let text) = message else { return socket.send(message) }
        let words = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        switch words[0] {
        case "broadcast": for other in open.withLock({ $0 }) { other.send(message) }
        case "flood": flood(words.count > 1 ? Int(words[1]) ?? 0 : 0, socket)
        case "close": close(words, socket)
        default: socket.send(message)
        }
    }

    private func flood(_ count: Int, _ socket: WebSocket) {
        Task {
            let message = WebSocketMessage.binary(Array(repeating: 0, count: 64 * 1024))
            for _ in 0..<count {
                socket.send(message)
                try await Task.sleep(for: .milliseconds(1))
            }
        }
    }

    private func close(_ words: [Substring], _ socket: WebSocket) {
        let code = words.count > 1 ? UInt16(words[1]) : nil
        socket.close(WebSocketClosure(.init(rawValue: code ?? 1000), reason: words.count > 2 ? String(words[2]) : ""))
    }
}
