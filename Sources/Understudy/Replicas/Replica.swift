import Dispatch
import Emulation
import HTTPEngine
import Synchronization

/// This server as one of several that share a folder of states: its lease, and its dealings with the others.
///
/// Each sandbox belongs to one replica at a time. One that is asked for a sandbox of another asks for it through the
/// folder, and takes it as soon as it is given up, or as its owner is gone.
package final class Replica: Sendable {
    /// How often others' requests for sandboxes are looked for.
    private static let pause = DispatchTimeInterval.milliseconds(50)

    /// The replica's name.
    package let name: String
    let lease: Lease
    private let folder: StateFolder
    private let others: ReplicaFolder
    private let watch: ReplicaWatch
    private let nameLock: StateLock
    /// Sandboxes that others were asked for: whoever gets one knows that it was in use.
    private let asked = Mutex<Set<String>>([])
    private let isLeaving = Atomic(false)
    private let end = DispatchSemaphore(value: 0)

    /// Joins the replicas of a folder.
    ///
    /// - Throws: why the name or the folder cannot be used.
    init(_ name: String, in folder: StateFolder) throws(ReplicaProblem) {
        self.name = name
        self.folder = folder
        others = ReplicaFolder(of: folder)
        do {
            try Files.makeFolder(others.path, mode: 0o700)
            nameLock = try StateLock(others.lock(of: name))
            watch = ReplicaWatch(others)
            lease = Lease(of: name, in: others)
        } catch StateLock.Failure.taken(let owner) {
            let process = owner.map { "the process \($0)" } ?? "another process"
            throw ReplicaProblem("\(name): \(process) has that name; give each replica its own")
        } catch {
            throw ReplicaProblem("\(name): \(others.path) cannot be used: \(error)")
        }
    }

    /// Begins the lease, and calls `serve` whenever there may be something to do for others or after a lapse.
    func start(_ serve: @escaping @Sendable () -> Void) {
        // One that cannot begin now begins as after a lapse.
        try? lease.begin()
        // Two threads: a slow disk must not keep the lease from being renewed. Neither keeps the replica itself.
        OperatingSystem.startThread { [end, lease] in
            while end.wait(timeout: .now() + Lease.beat.inSeconds) == .timedOut { lease.renew() }
            end.signal()
        }
        OperatingSystem.startThread { [end] in
            while end.wait(timeout: .now() + Self.pause) == .timedOut { serve() }
            end.signal()
        }
    }

    deinit { finish() }

    /// Takes a sandbox.
    ///
    /// - Returns: the claim, whether there is a file, and whether the sandbox was somebody else's until now.
    /// - Throws: why it cannot be had now.
    func take(_ sandbox: String) throws(SandboxUnavailable) -> (claim: StateFolder.Claim, hasFile: Bool, wasInUse: Bool)
    {
        guard !isLeaving.load(ordering: .relaxed) else {
            throw SandboxUnavailable("The replica \(name) is stopping and takes no sandbox; repeat the call.")
        }
        guard lease.isValid else { throw .lapsed }
        switch try attempt(sandbox) {
        case .taken(let claim, let hasFile, let earlier):
            let wasAsked = asked.withLock { $0.remove(sandbox) != nil }
            return (claim, hasFile, wasAsked || earlier != nil && earlier != claim)
        case .held(let claim):
            asked.withLock { _ = $0.insert(sandbox) }
            others.want(sandbox, of: claim.owner)
            throw SandboxUnavailable(
                "The sandbox \(sandbox) is with the replica \(claim.replica), which has not handed it over; repeat the call.",
                news: news(of: claim))
        }
    }

    /// Takes a sandbox of an earlier session of this process again.
    ///
    /// - Parameter isAnew: whether the folder was removed, and the claim with it.
    /// - Returns: the new claim, and whether there is a file; `nil` if others had the sandbox meanwhile, who may have
    ///   changed it.
    func retake(
        _ old: StateFolder.Claim, isAnew: Bool
    ) throws(SandboxUnavailable) -> (claim: StateFolder.Claim, hasFile: Bool)? {
        guard case .taken(let claim, let hasFile, let earlier) = try attempt(old.sandbox) else { return nil }
        if earlier == old || isAnew && earlier == nil && !hasFile { return (claim, hasFile) }
        folder.release(claim)
        return nil
    }

    private func attempt(_ sandbox: String) throws(SandboxUnavailable) -> StateFolder.Taking {
        do {
            return try folder.take(sandbox, for: lease.session) { lease.wasEarlier($0) || watch.isGone($0) }
        } catch {
            throw SandboxUnavailable("The sandbox \(sandbox) cannot be taken: \(folder.path): \(error).")
        }
    }

    /// Whether this session has a claim to a sandbox. Where that cannot be found out, it may have.
    func owns(_ sandbox: String) -> Bool {
        (try? folder.claims(to: sandbox))?.contains { $0.owner == lease.session } ?? true
    }

    /// Gives a sandbox up.
    func release(_ claim: StateFolder.Claim) { folder.release(claim) }

    /// Waits until an owner gives a sandbox up or is gone, but not longer than a second.
    private func news(of claim: StateFolder.Claim) -> @Sendable () async -> Void {
        { [folder, watch] in
            let end = ContinuousClock.now + .seconds(1)
            while folder.isInForce(claim), !watch.isGone(claim.owner), ContinuousClock.now < end {
                // Cancelled, it is over.
                guard (try? await Task.sleep(for: .milliseconds(15))) != nil else { return }
            }
        }
    }

    // MARK: - Others

    /// The sandboxes that others ask for.
    var wanted: [String] { others.wanted(of: lease.session) }

    /// Notes that this replica has let go of a sandbox, or does not have it.
    func fulfil(_ sandbox: String) { others.fulfil(sandbox, of: lease.session) }

    // MARK: - The end

    /// Takes no more sandboxes.
    func leave() { isLeaving.store(true, ordering: .relaxed) }

    /// Ends the lease. Sandboxes that are still this replica's can be taken over at once.
    func finish() {
        end.signal()
        lease.finish()
    }
}

/// Why a server cannot be a replica: what was found and what would be right.
package struct ReplicaProblem: Error, CustomStringConvertible {
    /// One sentence for people, without its full stop.
    package let description: String

    init(_ description: String) { self.description = description }
}

extension StateFolder.Claim {
    /// The name of the replica that owns the sandbox.
    var replica: Substring { owner.prefix { $0 != "." } }
}
