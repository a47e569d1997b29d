import Dispatch
import Synchronization

/// Work that takes long, done beside the loops by so many threads of its own at most; what comes meanwhile waits its turn.
///
/// ours: on the threads on which deferred answers usually end, of which there is one a core, two imports would keep
/// everybody's key fetches, delays and long polls waiting; and each import takes several times its size while it is read.
final class LongWork: Sendable {
    private struct State {
        /// The lanes in which nothing is being done.
        var free: [DispatchQueue]
        /// What waits, behind gaps where work has begun.
        var waiting: [(@Sendable () -> Void)?] = []
        var first = 0
    }

    private let width: Int
    private let state: Mutex<State>

    /// Work of which so much is done at one time.
    init(width: Int) {
        self.width = width
        // Serial queues of their own have threads also where all cores are at work; the common ones share one a core.
        state = Mutex(State(free: (0..<width).map { DispatchQueue(label: "understudy.long-work.\($0)") }))
    }

    /// Does something on one of the threads, and returns once it is done.
    func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            begin { continuation.resume(returning: work()) }
        }
    }

    /// How much is being done or waits.
    var count: Int { state.withLock { width - $0.free.count + $0.waiting.count - $0.first } }

    private func begin(_ work: @escaping @Sendable () -> Void) {
        let lane = state.withLock { state -> DispatchQueue? in
            if let lane = state.free.popLast() { return lane }
            state.waiting.append(work)
            return nil
        }
        // No thread is held while there is nothing to do.
        lane?.async {
            var next: (@Sendable () -> Void)? = work
            while let work = next {
                work()
                next = self.state.withLock { Self.next(&$0, in: lane) }
            }
        }
    }

    /// What comes next; `nil`, and the lane is given back, when nothing waits.
    private static func next(_ state: inout State, in lane: DispatchQueue?) -> (@Sendable () -> Void)? {
        guard state.first < state.waiting.count else {
            state.waiting = []
            state.first = 0
            if let lane { state.free.append(lane) }
            return nil
        }
        defer {
            state.waiting[state.first] = nil
            state.first += 1
        }
        return state.waiting[state.first]
    }
}
