import JSON
import Synchronization
package import Tokens
package import Wire

/// The traffic of a socket, for the journal entry of the exchange that opened it: the newest frames within limits.
public final class SocketLog: Sendable {
    /// A message in either direction.
    package struct Frame: Sendable {
        /// Whether the client sent it.
        package let isReceived: Bool
        /// The moment by the sandbox's clock.
        package let moment: Moment
        /// The message; `nil` when it was too long to keep.
        package let message: WebSocketMessage?
        /// Its length in bytes.
        package let byteCount: Int
        /// The vendor's remarks on it.
        package let notes: [Finding]
        /// The exchange that caused the server to send it.
        fileprivate let cause: FrameCause?
    }

    private struct Content {
        var frames: [Frame] = []
        var bytes = 0
        var received = 0
        var sent = 0
        var closure: (WebSocketClosure, Moment)?
        /// The vendor's remarks on the opening and the end.
        var notes: [Finding] = []
    }

    /// ours: a longer message is counted but not kept.
    private static let longestMessage = 1024
    /// ours: the memory for the frames of one socket, in bytes; an entry counts it in full.
    static let byteLimit = 8 * 1024
    /// The overhead of a frame, and of each of its notes.
    private static let frameCost = 96
    private static let noteCost = 256
    private static let mostNotes = 8

    private let content = Mutex(Content())

    init() {}

    /// The newest messages, oldest first.
    package var frames: [Frame] { content.withLock { $0.frames } }

    /// How it ended; `nil` while it is open, or while the handshake's answer is being sent.
    package var closure: WebSocketClosure? { content.withLock { $0.closure?.0 } }

    func received(_ message: WebSocketMessage, _ notes: [Finding], at moment: Moment) {
        add(message, isReceived: true, notes, moment, nil)
    }

    func sent(_ message: WebSocketMessage, at moment: Moment, because cause: FrameCause? = nil) {
        add(message, isReceived: false, [], moment, cause)
    }

    /// Adds remarks that concern no message.
    func noted(_ notes: [Finding]) {
        if notes.isEmpty { return }
        content.withLock { content in content.notes += notes.prefix(Self.mostNotes - content.notes.count) }
    }

    /// The vendor's remarks on the opening and the end.
    package var notes: [Finding] { content.withLock { $0.notes } }

    func closed(_ closure: WebSocketClosure, at moment: Moment) {
        content.withLock { $0.closure = ($0.closure ?? (closure, moment)) }
    }

    private func add(
        _ message: WebSocketMessage, isReceived: Bool, _ notes: [Finding], _ moment: Moment, _ cause: FrameCause?
    ) {
        let count = message.byteCount
        let frame = Frame(
            isReceived: isReceived, moment: moment, message: count > Self.longestMessage ? nil : message,
            byteCount: count, notes: Array(notes.prefix(Self.mostNotes)), cause: cause)
        content.withLock { content in
            if isReceived { content.received += 1 } else { content.sent += 1 }
            content.frames.append(frame)
            content.bytes += Self.cost(frame)
            var surplus = 0
            while content.bytes > Self.byteLimit, surplus < content.frames.count {
                content.bytes -= Self.cost(content.frames[surplus])
                surplus += 1
            }
            content.frames.removeFirst(surplus)
        }
    }

    private static func cost(_ frame: Frame) -> Int {
        frameCost + (frame.message == nil ? 0 : frame.byteCount) + noteCost * frame.notes.count
    }
}

extension SocketLog {
    /// The log for programs.
    ///
    /// - Parameter body: renders the bytes of an exchange.
    func json(_ body: ([UInt8]) -> JSON) -> JSON {
        let content = content.withLock { $0 }
        let closed = content.closure.map { closure, moment -> JSON in
            [
                "code": JSON(Int(closure.code.rawValue)), "reason": .string(closure.reason),
                "at": .string(moment.rfc3339),
            ]
        }
        return [
            "received": JSON(content.received), "sent": JSON(content.sent), "closed": closed ?? .null,
            "findings": .array(content.notes.map(\.json)),
            "frames": .array(content.frames.map { $0.json(body) }),
        ]
    }
}

extension SocketLog.Frame {
    fileprivate func json(_ body: ([UInt8]) -> JSON) -> JSON {
        let shown: JSON =
            switch message {
            case .text(let text)?: body(Array(text.utf8))
            case .binary?, nil: .string("(\(byteCount) bytes)")
            }
        return [
            "from": .string(isReceived ? "client" : "server"), "at": .string(moment.rfc3339), "message": shown,
            "findings": .array(notes.map(\.json)), "cause": cause?.entry.map { JSON($0) } ?? .null,
        ]
    }
}
