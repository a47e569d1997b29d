import Dispatch
import Synchronization

/// Waits for asynchronous work on the main thread.
///
/// The main function is synchronous: with an asynchronous one, the runtime has threads before our first line, which
/// would take SIGTERM's default action instead of leaving the signal to `serve`.
enum Waiting {
    /// Runs the work and blocks the calling thread until it is done.
    static func until<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () async throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let done = DispatchSemaphore(value: 0)
        let outcome = Outcome<Value, Failure>()
        Task {
            let result = await Result(work)
            outcome.value.withLock { $0 = result }
            done.signal()
        }
        while true {
            done.wait()
            if let result = outcome.value.withLock({ $0 }) { return try result.get() }
        }
    }

    private final class Outcome<Value: Sendable, Failure: Error>: Sendable {
        let value = Mutex<Result<Value, Failure>?>(nil)
    }
}

extension Result {
    fileprivate init(_ work: () async throws(Failure) -> Success) async {
        do {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}
