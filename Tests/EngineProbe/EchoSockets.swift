import Synchronization
import Wire

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
        socket.close(
            WebSocketClosure(.init(rawValue: code ?? 1000), reason: words.count > 2 ? String(words[2]) : ""))
    }
}
