import HTTPEngine
import HTTPTypes
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
