import Dispatch
import Emulation
import HTTPEngine
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The folder with the sandboxes of one server: a file each, which always holds one complete document.
///
/// `sandboxes/3fa/NAME.7.json`: the middle folder is the beginning of the name's hash, so that none of them has many
/// files; the number is the file's fence. Whoever takes a sandbox over writes under a higher number, so that nothing an
/// earlier owner still writes can replace the newer state.
struct StateFolder: Sendable {
    /// The folder's path.
    let path: String

    private static let marker = "UNDERSTUDY-STATE"
    private static let markerText = """
        This folder holds the sandboxes of an Understudy server (serve --state), with passwords and private keys of
        test users. Files in set-aside could not be read, and are never written again.

        """

    /// A file of a sandbox.
    struct File: Sendable, Hashable {
        let sandbox: String
        /// Counts the owners of the sandbox.
        let fence: Int

        /// Its name in the folder.
        var name: String { "\(sandbox).\(fence).json" }

        init(sandbox: String, fence: Int) {
            self.sandbox = sandbox
            self.fence = fence
        }

        /// Reads a file's name; `nil` for anything else that lies there.
        init?(_ name: String, as ending: String = "json") {
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[2] == ending, SandboxName.isValid(parts[0]), let fence = Int(parts[1]),
                fence > 0, String(fence) == parts[1]
            else { return nil }
            self.init(sandbox: String(parts[0]), fence: fence)
        }
    }

    /// The folder at a path, which need not exist yet.
    init(_ path: String) {
        self.path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Whether the folder is there, as this or an earlier server made it.
    private var isThere: Bool { mark != nil }

    /// Tells the folder from another one of its name; `nil` if there is none.
    var mark: UInt64? { Files.number(of: "\(path)/\(Self.marker)") }

    /// Makes the folder if there is none.
    ///
    /// - Throws: why it cannot be used: what was found, and what would be right.
    func make() throws(StateFolderProblem) {
        do {
            try Files.makeFolder(path, mode: 0o700)
            guard !isThere else { return }
            // Somebody's documents must not become ours by a slip of the hand.
            // What another server is making at this moment begins with the marker's name.
            if let other = FileSystem.names(in: path, atMost: 100).first(where: { !$0.hasPrefix(Self.marker) }) {
                throw StateFolderProblem(
                    "\(path) holds \(other) and is no folder of states; name an empty or a new one")
            }
            try Files.putFirst(Array(Self.markerText.utf8), at: "\(path)/\(Self.marker)", mode: 0o600)
        } catch let problem as StateFolderProblem {
            throw problem
        } catch {
            throw StateFolderProblem("\(path) cannot be used: \(error)")
        }
    }

    /// The digits of the start that all servers of the folder share, drawn by the first one.
    func start() throws(StateFolderProblem) -> String {
        let path = "\(path)/start"
        do {
            if !FileSystem.holds(path) {
                let digits = Array(SandboxIdentity.drawStart(seed: nil).utf8)
                try Files.putFirst(digits, at: path, mode: 0o600)
            }
            let digits = String(decoding: try Files.content(of: path), as: UTF8.self)
            guard digits.wholeMatch(of: /[0-9a-f]{8}/) != nil else {
                throw StateFolderProblem(
                    "\(path) does not hold eight hexadecimal digits; remove it, and sessions that apps hold will count as those of an earlier start"
                )
            }
            return digits
        } catch let problem as StateFolderProblem {
            throw problem
        } catch {
            throw StateFolderProblem("\(path) cannot be used: \(error)")
        }
    }

    /// Finds out whether files can be written.
    func tryWriting() throws(StateFolderProblem) {
        do {
            let test = "\(path)/.writing"
            try Files.put([], at: test, mode: 0o600)
            unlink(test)
        } catch {
            throw StateFolderProblem("\(path) cannot be used: \(error)")
        }
    }

    // MARK: - Files of sandboxes

    func bucket(of sandbox: String) -> String {
        let digits = String(SandboxDirectory.hash(sandbox) >> 52, radix: 16)
        return "\(path)/sandboxes/\(String(repeating: "0", count: 3 - digits.count))\(digits)"
    }

    private func path(of file: File) -> String { "\(bucket(of: file.sandbox))/\(file.name)" }

    /// The files of a sandbox, the one that counts first.
    ///
    /// For the only server of the folder: what servers that were killed left unfinished, and the claims of replicas, are
    /// removed on the way.
    func files(of sandbox: String) throws(Files.Failure) -> [File] {
        let bucket = bucket(of: sandbox)
        let names = try Files.names(in: bucket)
        for name in names {
            let isClaim = File(name, as: "owner")?.sandbox == sandbox
            if isClaim || name.hasPrefix(".\(sandbox).") { unlink("\(bucket)/\(name)") }
        }
        return names.compactMap { File($0) }.filter { $0.sandbox == sandbox }.sorted { $0.fence > $1.fence }
    }

    /// The content of a file, and when it was last written or marked as used, in Unix seconds.
    func content(of file: File) throws(Files.Failure) -> (bytes: [UInt8], changed: Double) {
        let descriptor = try Files.descriptor(of: path(of: file), O_RDONLY | O_NOFOLLOW)
        defer { close(descriptor) }
        return (try Files.content(ofDescriptor: descriptor), Files.modified(descriptor))
    }

    /// Gives a file the moment of its last use.
    func touch(_ file: File, at moment: Moment) {
        let seconds = moment.unixSeconds.rounded(.down)
        let nanoseconds = Int((moment.unixSeconds - seconds) * 1e9)
        let times = Array(repeating: timespec(tv_sec: Int(seconds), tv_nsec: nanoseconds), count: 2)
        utimensat(AT_FDCWD, path(of: file), times, AT_SYMLINK_NOFOLLOW)
    }

    /// Removes a file.
    ///
    /// - Returns: whether it was there.
    @discardableResult
    func remove(_ file: File) -> Bool {
        guard unlink(path(of: file)) == 0 else { return false }
        Files.sync(bucket(of: file.sandbox))
        return true
    }

    /// Moves a file out of the way, to be looked at by people.
    ///
    /// - Returns: its new path; `nil` if it stays where it is.
    func setAside(_ file: File) -> String? {
        let folder = "\(path)/set-aside"
        _ = try? Files.makeFolder(folder, mode: 0o700)
        for attempt in 0..<1000 {
            let new = "\(folder)/\(attempt == 0 ? "" : "\(attempt).")\(file.name)"
            // Links fail where something lies; renaming would replace it.
            guard link(path(of: file), new) == 0 else {
                if errno == EEXIST { continue }
                return nil
            }
            remove(file)
            return new
        }
        return nil
    }

    /// A file to be written.
    struct Draft: Sendable {
        let file: File
        let bytes: [UInt8]
        /// The claim under which it is written; `nil` for the only server of the folder.
        let claim: Claim?
    }

    /// Writes files so that each holds either its old or its new content, whatever happens meanwhile.
    ///
    /// - Returns: those that were written, and why the first other one was not. One whose claim is no longer in force is
    ///   not written (`ESTALE`).
    func write(_ drafts: [Draft]) -> (written: [File], failure: Files.Failure?) {
        // Systems write the journal once for all who wait for it at the same time.
        let partials = Self.together(drafts) { (draft) throws(Files.Failure) in
            (draft, try partial(of: draft.file, draft.bytes))
        }
        let renamed = Self.together(partials.done) { (draft, partial) throws(Files.Failure) in
            let file = draft.file
            // Checked after the partial file is there: whoever has taken the sandbox over since removes it.
            if let claim = draft.claim, !isInForce(claim) {
                unlink(partial)
                throw Files.Failure(code: ESTALE)
            }
            guard rename(partial, path(of: file)) == 0 else {
                let failure = Files.Failure.last
                unlink(partial)
                throw failure
            }
            return file
        }
        _ = Self.together(Set(renamed.done.map { bucket(of: $0.sandbox) })) { Files.sync($0) }
        return (renamed.done, partials.failure ?? renamed.failure)
    }

    /// Does work on several threads, all of which mostly wait.
    private static func together<Item: Sendable, Result: Sendable>(
        _ items: some Collection<Item>, _ work: @escaping @Sendable (Item) throws(Files.Failure) -> Result
    ) -> (done: [Result], failure: Files.Failure?) {
        let found = Mutex((rest: Array(items.reversed()), done: [Result](), failure: Files.Failure?.none))
        let run = { @Sendable in
            while let item = found.withLock({ $0.rest.popLast() }) {
                do throws(Files.Failure) {
                    let result = try work(item)
                    found.withLock { $0.done.append(result) }
                } catch {
                    found.withLock { $0.failure = $0.failure ?? error }
                }
            }
        }
        let helpers = DispatchGroup()
        for _ in 0..<min(items.count / 4, 7) {
            helpers.enter()
            let isRunning = OperatingSystem.startThread {
                run()
                helpers.leave()
            }
            if !isRunning { helpers.leave() }
        }
        run()
        helpers.wait()
        return found.withLock { ($0.done, $0.failure) }
    }

    /// Writes content to a new file beside the place where it will be.
    private func partial(of file: File, _ bytes: [UInt8]) throws(Files.Failure) -> String {
        let bucket = bucket(of: file.sandbox)
        let partial = "\(bucket)/.\(file.sandbox).\(String(UInt64.random(in: 0 ... .max), radix: 16)).partial"
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        var descriptor: Int32
        do {
            descriptor = try Files.descriptor(of: partial, flags, mode: 0o600)
        } catch {
            guard error.code == ENOENT else { throw error }
            try Files.makeFolder(bucket, mode: 0o700)
            Files.sync("\(path)/sandboxes")
            descriptor = try Files.descriptor(of: partial, flags, mode: 0o600)
        }
        defer { close(descriptor) }
        do throws(Files.Failure) {
            try Files.put(bytes, into: descriptor)
            guard fsync(descriptor) == 0 else { throw .last }
        } catch {
            unlink(partial)
            throw error
        }
        return partial
    }
}

/// Why a folder of states cannot be used: what was found and what would be right.
package struct StateFolderProblem: Error, CustomStringConvertible {
    /// One sentence for people, without its full stop.
    package let description: String

    init(_ description: String) { self.description = description }
}
