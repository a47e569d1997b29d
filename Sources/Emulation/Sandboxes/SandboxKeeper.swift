import Dispatch
public import Synchronization

/// Keeps sandboxes beyond the life of the process, and beyond their place in memory.
///
/// The directory and its sandboxes call it; what it stores, and where, is its own affair. Every function but
/// ``changed(_:)`` and ``mayAnswer(in:)`` may wait for a disk or for another server, so none of them is called on an
/// event loop.
package protocol SandboxKeeper: AnyObject, Sendable {
    /// Eight hexadecimal digits for ``SandboxIdentity/start``: credentials of kept sandboxes outlive the process.
    var start: String { get }

    /// Restores a fresh sandbox to what was kept under its name, if anything was.
    ///
    /// - Throws: why nobody may use the sandbox here now.
    func open(_ sandbox: Sandbox) throws(SandboxUnavailable)

    /// Whether an opened sandbox may answer here now: asked before and after each call.
    func mayAnswer(in sandbox: Sandbox) -> Bool

    /// Notes that an opened sandbox may differ from what is kept; called once until ``Sandbox/takeChanges()``.
    func changed(_ sandbox: Sandbox)

    /// Keeps what these opened sandboxes hold now.
    ///
    /// - Returns: those that are kept.
    func save(_ sandboxes: [Sandbox]) -> [Sandbox]

    /// Keeps what these opened and sealed sandboxes hold, and releases them.
    ///
    /// - Returns: those that are kept; the others are as before.
    func close(_ sandboxes: [Sandbox]) -> [Sandbox]

    /// Notes when these sandboxes, which have a time to live, were last used.
    func used(_ sandboxes: [Sandbox])

    /// Forgets what is kept under a name, since the sandbox was removed or has expired.
    ///
    /// - Returns: whether anything was kept.
    @discardableResult
    func forget(_ name: String) -> Bool
}

/// Why a sandbox cannot be used here now, though the request for it is right.
package struct SandboxUnavailable: Error, CustomStringConvertible {
    package let description: String
    /// Waits until it may be different; `nil` if waiting does not help.
    package let news: (@Sendable () async -> Void)?

    package init(_ description: String, news: (@Sendable () async -> Void)? = nil) {
        (self.description, self.news) = (description, news)
    }

    /// The reason while this server's lease has lapsed, which is over soon unless the store is unreachable.
    package static let lapsed = SandboxUnavailable(
        "This server could not renew its lease for a second, and others may have its sandboxes; repeat the call.",
        news: { try? await Task.sleep(for: .milliseconds(20)) })
}

/// Whether something in a sandbox may have changed since it was last kept.
///
/// Created before the sandbox, whose stores hold it. Setting it costs a load while it is set; without a keeper it costs
/// a comparison.
public final class ChangeMark: Sendable {
    private struct Owner {
        weak var sandbox: Sandbox?
    }

    @usableFromInline let isKept: Bool
    @usableFromInline let isSet = Atomic(false)
    private let isAnew = Atomic(false)
    private let keeper: (any SandboxKeeper)?
    private let owner = Mutex(Owner())

    init(for keeper: (any SandboxKeeper)?) {
        self.keeper = keeper
        isKept = keeper != nil
        // Nothing that happens while the sandbox is being made needs keeping.
        isSet.store(true, ordering: .relaxed)
    }

    /// From now on, changes of the sandbox reach the keeper.
    func attach(to sandbox: Sandbox) { owner.withLock { $0.sandbox = sandbox } }

    /// Notes a change. Called after it, while the lock of what has changed is still held: whoever takes the mark
    /// before has yet to take that lock, and then sees the change.
    @inlinable
    func set() {
        if isKept, !isSet.load(ordering: .relaxed) { notifyKeeper() }
    }

    /// Notes a change that no record tracks: a state was replaced.
    func setAnew() {
        if isKept { isAnew.store(true, ordering: .sequentiallyConsistent) }
        set()
    }

    func takeAnew() -> Bool { isAnew.exchange(false, ordering: .sequentiallyConsistent) }

    @usableFromInline
    func notifyKeeper() {
        guard !isSet.exchange(true, ordering: .relaxed), let sandbox = owner.withLock({ $0.sandbox }) else { return }
        keeper?.changed(sandbox)
    }

    /// Clears the mark, before the sandbox is read.
    ///
    /// - Returns: whether it was set.
    func take() -> Bool { isSet.exchange(false, ordering: .sequentiallyConsistent) }

    func putBack() { isSet.store(true, ordering: .sequentiallyConsistent) }
}

// Sandboxes that leave memory while calls may be in progress in them.
extension SandboxDirectory {
    /// How long a hand-over waits for control calls in progress, such as an import of a large state.
    private static let patience = DispatchTimeInterval.seconds(2)

    /// Hands sandboxes over to the keeper: from then on they answer nobody, and must be fetched again.
    ///
    /// Those that cannot be kept now, such as on a full disk, stay as they are.
    package func handOver(_ sandboxes: [Sandbox]) {
        guard let keeper else { return }
        // Most is written before anybody is turned away, and write errors show up early.
        let written = keeper.save(sandboxes)
        lock(Set(written.map { place(of: $0.name) }).sorted()[...]) {
            for sandbox in written { sandbox.refuseControlCalls() }
            let deadline = DispatchTime.now() + Self.patience
            let quiet = written.filter { $0.awaitControlCalls(until: deadline) }
            for sandbox in quiet { sandbox.seal() }
            let closed = Set(keeper.close(quiet).map(ObjectIdentifier.init))
            for sandbox in written {
                if closed.contains(ObjectIdentifier(sandbox)) {
                    discard(sandbox)
                    sandbox.end()
                } else {
                    sandbox.unseal()
                }
            }
        }
    }

    /// Drops a sandbox that the keeper no longer has; what it holds no longer counts.
    package func abandon(_ sandbox: Sandbox) {
        opening[place(of: sandbox.name)].lock.withLock { _ in
            sandbox.seal()
            discard(sandbox)
            sandbox.end()
        }
    }

    /// Holds several of the locks for opening, always taken in the same order.
    private func lock(_ places: ArraySlice<Int>, _ body: () -> Void) {
        guard let first = places.first else { return body() }
        opening[first].lock.withLock { _ in lock(places.dropFirst(), body) }
    }

    func place(of name: String) -> Int { Int(Self.hash(name) % UInt64(opening.count)) }

    /// Drops a sandbox, and whatever is kept of it.
    ///
    /// - Returns: whether anything was kept.
    func forget(_ sandbox: Sandbox) -> Bool {
        // Nobody reopens it before it is gone.
        opening[place(of: sandbox.name)].lock.withLock { _ in
            // Sealed first, so that no change revives it.
            sandbox.seal()
            let wasThere = discard(sandbox)
            sandbox.end()
            return wasThere && keeper?.forget(sandbox.name) == true
        }
    }
}
