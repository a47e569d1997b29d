import Dispatch
package import Emulation
import JSON
import Logging
import Synchronization

/// Keeps each sandbox that requests changed as a file in a folder: at most a second after a change, and at the end.
///
/// A sandbox is read when it is first named. Writing happens on a thread of its own and takes a sandbox's locks only for
/// as long as it takes to get hold of what is in it. What cannot be written stays in memory and is tried again every
/// second, and `health` says why.
package final class StateKeeper: SandboxKeeper {
    /// What is known of an opened sandbox's file.
    final class Place: Sendable {
        struct Content {
            var file: StateFolder.File
            /// The claim to the sandbox; `nil` for the only server of the folder.
            var claim: StateFolder.Claim?
            /// Whether the file is there.
            var isWritten: Bool
            /// Whether another replica had the sandbox until it was opened here.
            var wasInUse = false
            /// A hash of what it keeps; `nil` if that is not known.
            var hash: Int?
            var setAside: [JSON] = []
            weak var sandbox: Sandbox?
        }

        let content: Mutex<Content>
        /// Held by whoever reads, writes or removes the file.
        let turn = DispatchSemaphore(value: 1)

        init(_ content: Content) { self.content = Mutex(content) }
    }

    struct State {
        var places: [String: Place] = [:]
        /// Opened sandboxes that may differ from their files.
        var pending: [Sandbox] = []
        var isScheduled = false
        /// Why the last writing failed; `nil` when all was written.
        var problem: String?
        /// Which folder it was when it was last looked at: one of the same name may take its place.
        var mark: UInt64?
        /// Whether the folder was removed, so that claims of an earlier tenure went with it.
        var isAnew = false
        /// The tenure to which all opened sandboxes belong, but for those opened since.
        var settledTenure = 0
    }

    /// Where problems are told.
    struct Audience: Sendable {
        let setAside: SetAsideParts
        let reloads: Reloads
        let secrets: @Sendable () -> Set<String>
        let logger: Logger?
        let directory: SandboxDirectory
    }

    /// The digits of the start that all servers of the folder had and will have.
    package let start: String
    let folder: StateFolder
    private let lock: StateLock
    /// This server among those that share the folder; `nil` if it has it for itself.
    package let replica: Replica?
    let machine: @Sendable () -> Moment
    let timeToLive: Duration?
    let queue = DispatchQueue(label: "understudy.state-keeper")
    let state = Mutex(State())
    let audience = Mutex<Audience?>(nil)
    let counts = Mutex(StateCounts())
    /// Held by whoever writes several files, so that two of them never wait for each other's.
    let writing = Mutex(())

    /// Opens a folder, made if there is none: for this process alone, or as one of several replicas.
    ///
    /// - Parameters:
    ///   - path: the folder's path.
    ///   - name: the replica's name; `nil` for the only server of the folder.
    ///   - timeToLive: how long a sandbox without a time to live of its own may stay unused.
    ///   - machine: the machine's clock.
    /// - Throws: why the folder cannot be used; ``StateLock/Failure`` when another server uses it.
    package init(
        folder path: String, replica name: String? = nil, timeToLive: Duration? = nil,
        machine: @escaping @Sendable () -> Moment = { SandboxClock.machine }
    ) throws {
        folder = StateFolder(path)
        self.timeToLive = timeToLive
        self.machine = machine
        try folder.make()
        lock = try StateLock("\(folder.path)/.lock", isShared: name != nil)
        // Only after locking: another server may be writing there.
        try folder.tryWriting()
        start = try folder.start()
        let folder = folder
        replica = try name.map { try Replica($0, in: folder) }
        state.withLock { $0.mark = folder.mark }
    }

    /// The folder's path.
    package var path: String { folder.path }

    /// Why the file system has no locks, so that only people can keep other servers away; `nil` when it has.
    package var lackOfLocks: Files.Failure? { lock.lack }

    /// How much was read and written so far.
    var total: StateCounts { counts.withLock(\.self) }

    /// From now on, keeps the sandboxes of that directory, and tells what could not be read or written.
    func serve(
        _ directory: SandboxDirectory, _ setAside: SetAsideParts, _ reloads: Reloads,
        secrets: @escaping @Sendable () -> Set<String>, _ logger: Logger?
    ) {
        audience.withLock {
            $0 = Audience(
                setAside: setAside, reloads: reloads, secrets: secrets, logger: logger, directory: directory)
        }
        reloads.tell(state: health(problem: nil))
        guard let replica else { return }
        reloads.tell(replica: replica.name)
        replica.start { [weak self] in self?.serveOthers() }
    }

    func health(problem: String?) -> JSON { ["folder": .string(folder.path), "problem": JSON(problem)] }

    /// Whether the sandbox is this server's now: always, unless it shares the folder.
    package func mayAnswer(in sandbox: Sandbox) -> Bool { replica?.lease.holds(sandbox.tenure) ?? true }

    // MARK: - Ending

    /// Writes the files once more, and lets go of the sandboxes.
    package func close(_ sandboxes: [Sandbox]) -> [Sandbox] {
        let saved = save(sandboxes)
        // Of what has not changed, the moment of its last use still has.
        used(saved.filter { $0.timeToLive != nil })
        let places = state.withLock { state in saved.compactMap { state.places.removeValue(forKey: $0.name) } }
        for place in places {
            if let claim = place.content.withLock({ $0.claim }) { replica?.release(claim) }
        }
        return saved
    }

    /// Removes the file of a sandbox that is opened here, and gives the sandbox up.
    package func forget(_ name: String) -> Bool {
        let place = state.withLock { $0.places.removeValue(forKey: name) }
        guard let place else { return false }
        place.turn.wait()
        defer { place.turn.signal() }
        let content = place.content.withLock(\.self)
        // By its number: whoever has taken the sandbox over since has given the file another one.
        let wasThere = folder.remove(content.file)
        if let claim = content.claim { replica?.release(claim) }
        return wasThere || content.wasInUse
    }

    /// Gives the files the moments of their last use.
    package func used(_ sandboxes: [Sandbox]) {
        for sandbox in sandboxes {
            guard let place = state.withLock({ $0.places[sandbox.name] }) else { continue }
            let content = place.content.withLock(\.self)
            if content.isWritten, content.sandbox === sandbox { folder.touch(content.file, at: sandbox.lastUsed) }
        }
    }
}
