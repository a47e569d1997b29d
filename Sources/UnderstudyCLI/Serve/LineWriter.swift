import Dispatch
import HTTPEngine
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
        /// Lines dropped after those.
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

    /// A writer to a descriptor.
    ///
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
