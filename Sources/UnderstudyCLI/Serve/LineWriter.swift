import Dispatch
import Emulation
import HTTPEngine
import JSON
import Logging
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Writes lines to a descriptor on its own thread, in order, so that a slow reader blocks no caller.
///
/// The queue is bounded. When it is full, lines are dropped until the thread has taken the waiting ones; a notice in
/// their place says how many. The descriptor is never made non-blocking, since other programs share it.
final class LineWriter: Sendable {
    private struct Queue {
        var bytes: [UInt8] = []
        var dropped = 0
        /// Whether the thread was woken and has not emptied the queue yet.
        var isAwake = false
        /// Whether the thread is writing what it has taken.
        var isWriting = false
        /// Signaled when nothing is left.
        var finisher: DispatchSemaphore?

        var isEmpty: Bool { bytes.isEmpty && dropped == 0 && !isWriting }
    }

    /// The size of the queue in bytes; the thread may hold as much again. ours: tens of thousands of lines, which a
    /// disk takes in a moment.
    static let mostBytes = 4 << 20
    /// How long lines gather after a wake-up, in microseconds: waking the thread for each would cost a call more than
    /// writing.
    private static let gathering: UInt32 = 1000

    private let descriptor: Int32
    private let notice: @Sendable (Int) -> String
    private let queue = Mutex(Queue())
    private let alarm = DispatchSemaphore(value: 0)
    private let lost = Atomic(0)

    /// - Parameter notice: the line that reports how many lines were dropped.
    init(_ descriptor: Int32, notice: @escaping @Sendable (Int) -> String) {
        self.descriptor = descriptor
        self.notice = notice
        OperatingSystem.startThread { [self] in work() }
    }

    var droppedLines: Int { lost.load(ordering: .relaxed) }

    /// Queues complete lines, each with its line feed; returns at once.
    func write(_ text: String) {
        let mustWake = queue.withLock { queue in
            // Lines after a dropped one are dropped too, so that the gap is where the notice says.
            guard queue.dropped == 0, queue.bytes.count + text.utf8.count <= Self.mostBytes else {
                let count = text.utf8.count { $0 == UInt8(ascii: "\n") }
                queue.dropped += count
                lost.add(count, ordering: .relaxed)
                return false
            }
            queue.bytes.append(contentsOf: text.utf8)
            return Self.wake(&queue)
        }
        if mustWake { alarm.signal() }
    }

    var recorder: @Sendable (JSON) -> Void { { self.write($0.text + "\n") } }

    /// Waits until everything is written, at most until the deadline.
    func finish(by deadline: DispatchTime) {
        let finisher = DispatchSemaphore(value: 0)
        let (isEmpty, mustWake) = queue.withLock { queue in
            if queue.isEmpty { return (true, false) }
            queue.finisher = finisher
            return (false, Self.wake(&queue))
        }
        if mustWake { alarm.signal() }
        if !isEmpty { _ = finisher.wait(timeout: deadline) }
    }

    private static func wake(_ queue: inout Queue) -> Bool {
        defer { queue.isAwake = true }
        return !queue.isAwake
    }

    // MARK: - The thread

    private func work() {
        var output = LineOutput(descriptor: descriptor)
        while true {
            alarm.wait()
            usleep(Self.gathering)
            let (bytes, dropped) = take()
            lost.add(output.write(bytes, notice), ordering: .relaxed)
            if dropped > 0 { output.tell(ofDropped: dropped, notice) }
            rest()
        }
    }

    private func take() -> (bytes: [UInt8], dropped: Int) {
        queue.withLock { queue in
            defer {
                // The thread takes lines dropped from now on the next time.
                (queue.bytes, queue.dropped, queue.isAwake, queue.isWriting) = ([], 0, false, true)
            }
            return (queue.bytes, queue.dropped)
        }
    }

    private func rest() {
        let finisher = queue.withLock { queue -> DispatchSemaphore? in
            queue.isWriting = false
            guard queue.isEmpty else { return nil }
            defer { queue.finisher = nil }
            return queue.finisher
        }
        finisher?.signal()
    }
}

/// Writes whole lines to a descriptor, waits for its reader, and counts the lines it cannot write.
struct LineOutput {
    /// A pipe takes up to this much atomically, so that lines of different programs do not mix.
    private static let pieceBytes = Int(PIPE_BUF)
    private static let lineFeed = UInt8(ascii: "\n")

    let descriptor: Int32
    /// Lost lines that have not been reported yet.
    private(set) var unreported = 0
    /// Whether the last write ended within a line.
    private(set) var isTorn = false

    /// Writes complete lines.
    ///
    /// - Parameter notice: the line that reports lost lines; it precedes the next line that can be written.
    /// - Returns: the number of lines that could not be written.
    mutating func write(_ lines: [UInt8], _ notice: (Int) -> String) -> Int {
        var (rest, lost) = (lines[...], 0)
        while !rest.isEmpty {
            let piece = Self.piece(of: rest)
            rest = rest[piece.endIndex...]
            let left = reportLost(notice) ? put(piece) : piece
            let count = left.count { $0 == Self.lineFeed }
            unreported += count
            lost += count
        }
        return lost
    }

    /// Reports lines dropped after those written last.
    mutating func tell(ofDropped count: Int, _ notice: (Int) -> String) {
        unreported += count
        _ = reportLost(notice)
    }

    /// Returns false when nothing can be written now.
    private mutating func reportLost(_ notice: (Int) -> String) -> Bool {
        guard unreported > 0 else { return true }
        guard put(Array((notice(unreported) + "\n").utf8)[...]).isEmpty else { return false }
        unreported = 0
        return true
    }

    /// The leading lines that fit into one piece; a longer line is a piece of its own.
    private static func piece(of lines: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard lines.count > pieceBytes else { return lines }
        let end = lines.prefix(pieceBytes).lastIndex(of: lineFeed) ?? lines.firstIndex(of: lineFeed)
        return end.map { lines[...$0] } ?? lines
    }

    /// Writes a piece, after ending a torn line.
    ///
    /// - Returns: what could not be written.
    private mutating func put(_ piece: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        if isTorn, !send([Self.lineFeed]).isEmpty { return piece }
        return send(piece)
    }

    /// - Returns: what could not be written because of a closed pipe, a full disk or the like.
    private mutating func send(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                isTorn = rest[rest.startIndex + written - 1] != Self.lineFeed
                rest = rest.dropFirst(written)
            } else if written == 0 || !mayTryAgain {
                return rest
            }
        }
        return rest
    }

    /// Whether to retry a write that took nothing. Another program may have made the descriptor non-blocking.
    private var mayTryAgain: Bool {
        switch errno {
        case EINTR: return true
        case EAGAIN:
            var reader = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            return poll(&reader, 1, -1) >= 0 || errno == EINTR
        default: return false
        }
    }
}

/// The system's `write`, which a method of that name would hide.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}

enum LogForm: String {
    case text
    case json
    case off
}

struct LineLogHandler: LogHandler {
    let form: LogForm
    let writer: LineWriter
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = metadata.merging(event.metadata ?? [:]) { $1 }.mapValues(\.description)
        let time = SandboxClock.machine.rfc3339
        let line =
            switch form {
            case .json: Self.json(event.level, event.message.description, fields, time)
            case .text, .off: text(event, fields, time)
            }
        writer.write(line + "\n")
    }

    private static let order = [
        "sandbox", "vendor", "route", "method", "path", "status", "failure", "reason", "note", "intervention",
        "entry", "duration_ms",
    ]

    private static func json(
        _ level: Logger.Level, _ message: String, _ fields: [String: String], _ time: String
    ) -> String {
        var object: JSONObject = [
            "time": .string(time), "level": .string(level.rawValue), "message": .string(message),
        ]
        let known = order.filter { fields[$0] != nil }
        for name in known + fields.keys.filter({ !order.contains($0) }).sorted() {
            object.append(name, JSON(fields[name]))
        }
        return JSON.object(object).text
    }

    private func text(_ event: LogEvent, _ fields: [String: String], _ time: String) -> String {
        guard let status = fields["status"] else { return "\(time) \(event.level) \(event.message)" }
        var words = [time, status, fields["vendor"] ?? "-", fields["route"] ?? "-"]
        words += [fields["method"], fields["path"]].compactMap { $0 }
        if let sandbox = fields["sandbox"], sandbox != SandboxName.standard { words.append("~\(sandbox)") }
        words += [fields["entry"].map { "#\($0)" }, fields["duration_ms"].map { "\($0)ms" }].compactMap(\.self)
        // If an intervention refuses the request, it is the reason too.
        let intervention = fields["intervention"].flatMap { $0 == fields["reason"] ? nil : "[\($0)]" }
        if let intervention { words.append(intervention) }
        if let failure = fields["failure"] {
            words.append("\(failure): \(fields["reason"] ?? "")")
        } else if let reason = fields["reason"] ?? fields["note"].map({ "* \($0)" }) {
            words.append(reason)
        }
        return Output.printable(words.joined(separator: " "))
    }

    static func notice(_ form: LogForm, ofDropped count: Int) -> String {
        let time = SandboxClock.machine.rfc3339
        let message = "\(count) line\(count == 1 ? "" : "s") of the log dropped: nobody read them in time"
        return switch form {
        case .json: json(.warning, message, ["dropped": String(count)], time)
        case .text, .off: "\(time) warning \(message)."
        }
    }
}
