import Dispatch
package import Emulation
import JSON
import Logging
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Keeps each sandbox that requests changed as a file in a folder: at most a second after a change, and at the end.
///
/// A sandbox is read when it is first named. Writing happens on a thread of its own and takes a sandbox's locks only for
/// as long as it takes to get hold of what is in it. What cannot be written stays in memory and is tried again every
/// second, and `health` says why.
package final class StateKeeper: SandboxKeeper {
    /// How long after a change its sandbox is written: others that change meanwhile are written with it, and there is
    /// time left for the disk until a second is over.
    private static let delay = DispatchTimeInterval.milliseconds(500)
    private static let pause = DispatchTimeInterval.seconds(1)

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
    /// How many of the newest entries of each journal are kept too.
    package let journalEntries: Int
    let folder: StateFolder
    private let lock: StateLock
    /// This server among those that share the folder; `nil` if it has it for itself.
    package let replica: Replica?
    let machine: @Sendable () -> Moment
    let timeToLive: Duration?
    private let queue = DispatchQueue(label: "understudy.state-keeper")
    let state = Mutex(State())
    let audience = Mutex<Audience?>(nil)
    let counts = Mutex(StateCounts())
    /// Held by whoever writes several files, so that two of them never wait for each other's.
    private let writing = Mutex(())

    /// Opens a folder, made if there is none: for this process alone, or as one of several replicas.
    ///
    /// - Parameters:
    ///   - path: the folder's path.
    ///   - name: the replica's name; `nil` for the only server of the folder.
    ///   - timeToLive: how long a sandbox without a time to live of its own may stay unused.
    ///   - journalEntries: how many of the newest entries of each journal are kept too.
    ///   - machine: the machine's clock.
    /// - Throws: why the folder cannot be used; ``StateLock/Failure`` when another server uses it.
    package init(
        folder path: String, replica name: String? = nil, timeToLive: Duration? = nil, journalEntries: Int = 0,
        machine: @escaping @Sendable () -> Moment = { SandboxClock.machine }
    ) throws {
        folder = StateFolder(path)
        self.timeToLive = timeToLive
        self.journalEntries = journalEntries
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

    /// This server's name among those that share the folder; `nil` if it has it for itself.
    package var replicaName: String? { replica?.name }

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

    // MARK: - Writing

    /// Has the sandbox written within a second.
    package func changed(_ sandbox: Sandbox) {
        let isFirst = state.withLock { state in
            state.pending.append(sandbox)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { schedule(after: Self.delay) }
    }

    private func schedule(after delay: DispatchTimeInterval) {
        queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.savePending() }
    }

    /// The sandboxes to be written, each once.
    private func takePending() -> [Sandbox] {
        let pending = state.withLock { state in
            defer { state.pending = [] }
            return state.pending
        }
        var known: Set<ObjectIdentifier> = []
        return pending.filter { known.insert(ObjectIdentifier($0)).inserted }
    }

    private func savePending() {
        let pending = takePending()
        let saved = save(pending)
        let isAllSaved = saved.count == pending.count
        let hasMore = state.withLock { state in
            if !isAllSaved {
                let done = Set(saved.map(ObjectIdentifier.init))
                state.pending += pending.filter { !done.contains(ObjectIdentifier($0)) }
            }
            state.isScheduled = !state.pending.isEmpty
            return state.isScheduled
        }
        if hasMore {
            schedule(after: isAllSaved ? Self.delay : Self.pause)
        } else {
            settle(nil)
        }
    }

    /// Writes all that is not written yet.
    ///
    /// - Returns: why something could not be written; `nil` when all is.
    package func finish() -> String? {
        let pending = takePending()
        let saved = Set(save(pending).map(ObjectIdentifier.init))
        let isAllSaved = state.withLock { state in
            state.pending += pending.filter { !saved.contains(ObjectIdentifier($0)) }
            return state.pending.isEmpty
        }
        if isAllSaved { settle(nil) }
        return state.withLock { $0.problem }
    }

    /// Writes the files of those sandboxes that differ from them.
    package func save(_ sandboxes: [Sandbox]) -> [Sandbox] {
        writing.withLock { _ in
            restoreFolder()
            var (work, saved): ([Writing], [Sandbox]) = ([], [])
            for sandbox in sandboxes {
                guard let place = state.withLock({ $0.places[sandbox.name] }) else {
                    // Removed meanwhile.
                    saved.append(sandbox)
                    continue
                }
                place.turn.wait()
                if let writing = prepare(sandbox, at: place) {
                    work.append(writing)
                } else {
                    place.turn.signal()
                    saved.append(sandbox)
                }
            }
            return saved + write(work)
        }
    }

    /// A file to be written.
    private struct Writing {
        let sandbox: Sandbox
        let place: Place
        let draft: StateFolder.Draft
        let hash: Int
    }

    /// Reads what a sandbox keeps; `nil` when there is nothing to write.
    private func prepare(_ sandbox: Sandbox, at place: Place) -> Writing? {
        let content = place.content.withLock(\.self)
        // Another one has its name by now.
        guard content.sandbox === sandbox else { return nil }
        guard sandbox.takeChanges() else { return nil }
        let used = sandbox.lastUsed
        let bytes = sandbox.keptText
        if bytes.isEmpty, content.setAside.isEmpty {
            if content.isWritten, folder.remove(content.file) {
                place.content.withLock { ($0.isWritten, $0.hash) = (false, nil) }
            }
            return nil
        }
        let hash = bytes.hashValue
        guard hash != content.hash || !content.isWritten else { return nil }
        let text = KeptSandbox.content(
            bytes, of: content.file, setAside: content.setAside, used: used, at: machine())
        return Writing(
            sandbox: sandbox, place: place,
            draft: StateFolder.Draft(file: content.file, bytes: text, claim: content.claim), hash: hash)
    }

    private func write(_ work: [Writing]) -> [Sandbox] {
        if work.isEmpty { return [] }
        let (written, failure) = folder.write(work.map(\.draft))
        let files = Set(written)
        var saved: [Sandbox] = []
        for writing in work {
            let isWritten = files.contains(writing.draft.file)
            if isWritten {
                writing.place.content.withLock { ($0.isWritten, $0.hash) = (true, writing.hash) }
                saved.append(writing.sandbox)
            } else {
                writing.sandbox.returnChanges()
            }
            writing.place.turn.signal()
        }
        counts.withLock { counts in
            counts.written += written.count
            counts.bytes += work.reduce(0) { $0 + (files.contains($1.draft.file) ? $1.draft.bytes.count : 0) }
            counts.failed += work.count - written.count
        }
        // What others have by now is none of this server's problems.
        if let failure, failure.code != ESTALE {
            settle("\(work.count - written.count) sandboxes are not written to \(folder.path): \(failure)")
        }
        return saved
    }

    /// Tells when writing begins to fail, fails otherwise, or succeeds again.
    func settle(_ problem: String?) {
        let isNews = state.withLock { state in
            defer { state.problem = problem }
            return state.problem != problem
        }
        guard isNews, let audience = audience.withLock(\.self) else { return }
        audience.reloads.tell(state: health(problem: problem))
        if let problem {
            audience.logger?.error("\(problem). They stay in memory, and writing is tried again every second.")
        } else {
            audience.logger?.notice("All sandboxes are written to \(folder.path) again.")
        }
    }

    /// Makes a folder that somebody removed anew, with all sandboxes in memory.
    func restoreFolder() {
        let known = state.withLock(\.mark)
        guard folder.mark != known else { return }
        do {
            try folder.make()
        } catch {
            // Writing fails next, and says why.
            return
        }
        state.withLock { ($0.mark, $0.isAnew) = (folder.mark, true) }
        audience.withLock(\.self)?.logger?.error(
            "\(folder.path) was removed; the sandboxes in memory are written to a new one, all others are lost.")
        let places = state.withLock { Array($0.places.values) }
        for place in places {
            let sandbox = place.content.withLock { content in
                (content.isWritten, content.hash) = (false, nil)
                return content.sandbox
            }
            if let sandbox {
                sandbox.returnChanges()
                changed(sandbox)
            }
        }
    }

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

/// How much a server has read from its folder of states, and written to it.
struct StateCounts {
    /// Sandboxes read.
    var read = 0
    /// Files written.
    var written = 0
    /// The bytes of these files.
    var bytes = 0
    /// Attempts to write a file that failed.
    var failed = 0
    /// Sandboxes taken from another replica, or from one that was gone.
    var takenOver = 0
    /// Sandboxes given to another replica that asked for them.
    var handedOver = 0
    /// How often the lease has lapsed.
    var lapses = 0
}
