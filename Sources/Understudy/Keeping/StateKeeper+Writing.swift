import Dispatch
package import Emulation
import JSON

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Writing what changed, on a thread of its own.
extension StateKeeper {
    /// How long after a change its sandbox is written: others that change meanwhile are written with it, and there is
    /// time left for the disk until a second is over.
    private static let delay = DispatchTimeInterval.milliseconds(500)
    private static let pause = DispatchTimeInterval.seconds(1)

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
}
