import Dispatch
import Synchronization

/// Long-running work off the event loops, on a limited number of dedicated threads; further work is queued.
///
/// ours: on the threads where deferred answers usually end, one per core, two imports would delay everyone's key
/// fetches, delays and long polls; and each import takes several times its size while it is read.
final class LongWork: Sendable {
    private struct State {
        var free: [DispatchQueue]
        /// The queued work, after gaps where work has begun.
        var waiting: [(@Sendable () -> Void)?] = []
        var first = 0
    }

    private let width: Int
    private let state: Mutex<State>

    init(width: Int) {
        self.width = width
        // Dedicated serial queues get threads even when all cores are busy; the shared ones have one per core.
        state = Mutex(State(free: (0..<width).map { DispatchQueue(label: "understudy.long-work.\($0)") }))
    }

    /// Runs work on one of the threads, and returns once it is done.
    ///
    /// - Parameter isNext: whether it goes ahead of all that is queued.
    func run<Value: Sendable>(isNext: Bool = false, _ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            begin(isNext) { continuation.resume(returning: work()) }
        }
    }

    var count: Int { state.withLock { width - $0.free.count + $0.waiting.count - $0.first } }

    private func begin(_ isNext: Bool, _ work: @escaping @Sendable () -> Void) {
        let lane = state.withLock { state -> DispatchQueue? in
            if let lane = state.free.popLast() { return lane }
            state.waiting.insert(work, at: isNext ? state.first : state.waiting.count)
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

    /// The next queued work; `nil`, after returning the lane, when there is none.
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
