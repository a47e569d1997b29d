internal import Dispatch
internal import Synchronization

/// Two pieces of work that need nothing from each other, done side by side.
@usableFromInline
enum Both {
    /// What both made, once both are done.
    ///
    /// - Throws: the first one's failure, else the second one's.
    @usableFromInline
    static func done<First: Sendable, Second: Sendable, Failure: Error>(
        _ first: @Sendable () throws(Failure) -> First, _ second: @Sendable () throws(Failure) -> Second
    ) throws(Failure) -> (First, Second) {
        let results = Mutex<(first: Result<First, Failure>?, second: Result<Second, Failure>?)>((nil, nil))
        DispatchQueue.concurrentPerform(iterations: 2) { index in
            if index == 0 {
                let result = Result { () throws(Failure) in try first() }
                results.withLock { $0.first = result }
            } else {
                let result = Result { () throws(Failure) in try second() }
                results.withLock { $0.second = result }
            }
        }
        guard case (let made?, let other?) = results.withLock({ $0 }) else {
            preconditionFailure("concurrentPerform came back before its work was done")
        }
        return (try made.get(), try other.get())
    }
}
