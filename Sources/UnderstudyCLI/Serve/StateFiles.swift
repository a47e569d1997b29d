import ArgumentParser
import Emulation
import JSON
import Understudy

#if canImport(FoundationEssentials)
    import FoundationEssentials
    import Glibc
#else
    import Foundation
#endif

/// What `serve` keeps across restarts.
struct StateOptions: ParsableArguments {
    @Option(
        name: .customLong("state"),
        help: ArgumentHelp(
            "Where every sandbox is kept across restarts (default: nowhere): a file such as understudy.db, or postgres://user@host/database, which several servers can share.",
            valueName: "database"),
        completion: .file(extensions: ["db"]))
    var database: String?

    @Option(
        name: .customLong("import"), help: "A file of --export-on-exit to start with (default: none).",
        completion: .file(extensions: ["json"]))
    var importFile: String?

    @Option(
        help: "A file for what requests created or changed in all sandboxes, written at the end (default: none).",
        completion: .file(extensions: ["json"]))
    var exportOnExit: String?

    @Option(
        help:
            "The longest state that the control API takes, in MB (default: 64); reading it needs about ten times as much memory."
    )
    var stateLimit: String?

    func limit(_ sources: OptionSources) throws -> Int {
        try sources.value(
            "state-limit", flag: stateLimit, default: Emulator.standardStateLimit,
            expected: "a number of megabytes (1–4096)",
            parse: { Int($0).flatMap { (1...4096).contains($0) ? $0 << 20 : nil } })
    }

    func keeper(_ sources: OptionSources) throws -> StateKeeper? {
        try sources.text("state", flag: database).map { StateKeeper(try Self.store($0)) }
    }

    static func store(_ place: String) throws -> any StateStore {
        do {
            if let scheme = place.firstRange(of: "://").map({ place[..<$0.lowerBound] }) {
                try Misuse.require(
                    ["postgres", "postgresql"].contains(scheme),
                    "--state \(scheme)://… is no known kind of database; expected a file such as understudy.db, or postgres://user@host/database."
                )
                return try PostgresStore(place)
            }
            let store = try SQLiteStore(place)
            if let lack = store.lackOfLocks {
                Output.complaint(
                    "\(place) is on a file system without locks (\(lack)): make sure that no other server uses it.")
            }
            return store
        } catch let problem as StoreProblem {
            throw Misuse("--state \(problem).")
        } catch StateLock.Failure.taken(let owner) {
            let process = owner.map { "the process \($0)" } ?? "another process"
            throw Misuse("--state \(place): \(process) uses it. Name another file, or end that process.")
        } catch StateLock.Failure.system(let failure) {
            throw Misuse("--state \(place) cannot be used: \(failure).")
        }
    }

    /// The two files; both are optional, and they may be the same.
    func files(_ sources: OptionSources) throws -> StateFiles {
        try StateFiles(
            source: try sources.text("import", flag: importFile).map(StateFile.init),
            target: try sources.text("export-on-exit", flag: exportOnExit).map(StateFile.init))
    }
}

/// Where state is read at the start and written at the end.
struct StateFiles {
    let source: StateFile?
    let target: StateFile?
    private let lock: StateLock?

    /// Checks at the start what would otherwise fail at the end.
    fileprivate init(source: StateFile?, target: StateFile?) throws {
        (self.source, self.target) = (source, target)
        lock = try target?.checkFolder()
        guard let source, !source.exists, target?.isSame(as: source) != true else { return }
        throw Misuse(
            "--import \(source.name): there is no such file. On a first start that is fine only if --export-on-exit names the same file."
        )
    }

    /// Imports the state over the fixtures.
    ///
    /// - Returns: lines that report it; none when there was nothing to import.
    func restore(_ emulator: Emulator) throws -> [String] {
        guard let source else { return [] }
        guard source.exists else {
            return ["There is no \(source.name) yet; the server starts with the fixtures only."]
        }
        let document = try source.read()
        let (count, setAside) = try emulator.restoreState(document, from: source.name)
        return ["The state of \(Self.sandboxes(count)) was read from \(source.name)."] + report(setAside, of: source)
    }

    private static let mostListed = 20

    private func report(_ parts: [SetAsidePart], of source: StateFile) -> [String] {
        if parts.isEmpty { return [] }
        let count = "\(parts.count) part\(parts.count == 1 ? "" : "s")"
        let fate =
            target == nil
            ? "Without --export-on-exit nothing is written, and \(source.name) stays as it is."
            : "The next export keeps them as they are, in “set_aside”."
        let rest = parts.count - Self.mostListed
        return ["\(count) of it cannot be read and \(parts.count == 1 ? "was" : "were") set aside. \(fate)"]
            + parts.prefix(Self.mostListed).map { "  \($0)" } + (rest > 0 ? ["  and \(rest) more"] : [])
    }

    /// Saves the state, if configured.
    ///
    /// - Returns: a line that reports it.
    func save(_ emulator: Emulator) throws -> String? {
        guard let target else { return nil }
        let state = try emulator.keeper?.exportState() ?? emulator.exportState()
        try target.write(state)
        return "The state of \(Self.sandboxes(state["sandboxes"]?.array?.count ?? 0)) was written to \(target.name)."
    }

    static func sandboxes(_ count: Int) -> String { "\(count) sandbox\(count == 1 ? "" : "es")" }
}

struct StateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state", abstract: "Exports sandboxes from a database of serve --state, or imports them into it.",
        discussion: "No server may have the database open. Example: understudy state export understudy.db state.json",
        subcommands: [Export.self, Import.self])

    struct Places: ParsableArguments {
        @Argument(help: "The database: a file such as understudy.db, or postgres://user@host/database.")
        var database: String

        @Argument(help: "The file, in the form of serve --export-on-exit.", completion: .file(extensions: ["json"]))
        var file: String
    }

    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Writes every sandbox of a database into one file, secrets included.")

        @OptionGroup var places: Places

        func run() throws {
            try Misuse.require(
                FileSystem.holds(places.database) || places.database.firstRange(of: "://") != nil,
                "there is no database \(places.database).")
            let store = try StateOptions.store(places.database)
            defer { store.leave() }
            let file = StateFile(places.file)
            let lock = try file.checkFolder()
            // A damaged database still gives what can be read.
            var skipped: [String] = []
            do {
                let state = try Emulator.exportState(of: store, at: SandboxClock.machine) { name, problem in
                    skipped.append("the sandbox \(name) is not in it: \(problem)")
                }
                try file.write(state)
                let count = StateFiles.sandboxes(state["sandboxes"]?.array?.count ?? 0)
                Output.line("The state of \(count) was written to \(file.name).")
            } catch {
                throw AnswerIsNo(message: "\(error).")
            }
            withExtendedLifetime(lock) {}
            if !skipped.isEmpty { throw AnswerIsNo(message: skipped.joined(separator: "; ") + ".") }
        }
    }

    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Puts the sandboxes of a file into a database, over those of the same names.")

        @OptionGroup var places: Places

        @OptionGroup var fixtureOptions: FixtureOptions

        func run() throws {
            let file = StateFile(places.file)
            guard file.exists else { throw Misuse("there is no file \(file.name).") }
            let document = try file.read()
            let fixtures = try fixtureOptions.store(try fixtureOptions.sources())
            let keeper = StateKeeper(try StateOptions.store(places.database))
            defer { keeper.leave() }
            let emulator = try Emulator(fixtures: fixtures, sandboxes: SandboxLimits(capacity: .max), keeper: keeper)
            let (count, setAside) = try emulator.restoreState(document, from: file.name)
            if let problem = keeper.finish() { throw AnswerIsNo(message: "\(problem).") }
            keeper.handOverAll()
            for part in setAside { Output.line("Set aside: \(part)") }
            Output.line("The state of \(StateFiles.sandboxes(count)) was written to \(places.database).")
        }
    }
}

/// A file that always holds one complete document, even if writing the next one is interrupted.
struct StateFile {
    /// Why a file was not written; the previous one is unchanged.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let code: Int32

        var description: String {
            let reason =
                switch code {
                case EBUSY: "it is mounted by itself, so nothing can take its place; mount the folder"
                case EINVAL: "it is no regular file"
                case ELOOP: "it is a loop of links"
                default: String(cString: strerror(code))
                }
            return "the state cannot be written to \(path): \(reason)"
        }
    }

    let name: String
    /// The target of links: renaming onto a link would replace the link.
    private let path: String

    init(_ name: String) {
        self.name = name
        path = Self.end(of: name)
    }

    /// The target of a chain of links, which need not exist yet.
    private static func end(of name: String) -> String {
        var path = name
        // As many links as the system follows; a loop remains a link and is rejected as one.
        for _ in 0..<40 {
            let parts = path.split(separator: "/", omittingEmptySubsequences: true)
            guard let last = parts.last, last != "..", last != "." else { return path }
            let parent = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
            let named = parent.isEmpty ? path.hasPrefix("/") ? "/" : "." : parent
            // Unchanged if the folder does not exist; writing reports that.
            let folder = FileSystem.realPath(named) ?? named
            path = folder == "/" ? "/\(last)" : "\(folder)/\(last)"
            let target = FileSystem.target(of: path)
            if target.isEmpty { return path }
            // A relative target is resolved from the link's real folder.
            path = target.hasPrefix("/") ? target : "\(folder)/\(target)"
        }
        return path
    }

    var exists: Bool { FileSystem.holds(path) }

    func isSame(as other: StateFile) -> Bool { path == other.path }

    private var folder: String { URL(filePath: path).deletingLastPathComponent().path }

    /// How the names of hidden files beside it begin.
    private var hidden: String { ".\(URL(filePath: path).lastPathComponent)." }

    /// A unique name on the same file system.
    private var partialPath: String {
        "\(folder)/\(hidden)\(String(UInt64.random(in: 0 ... .max), radix: 16)).partial"
    }

    func read() throws -> JSON {
        guard let bytes = try? Files.content(of: path) else {
            // The system's reason says less than the advice.
            throw Misuse("\(name) cannot be read; check that it is a file, and its permissions")
        }
        do {
            return try JSON.parse(bytes, maximumDepth: Emulator.documentDepth)
        } catch {
            throw Misuse(
                "\(FixtureProblem(file: name, line: error.line, column: error.column, message: "not JSON: \(error.reason)"))."
            )
        }
    }

    /// Checks in advance that the file can be saved.
    ///
    /// - Returns: the lock that keeps other servers from writing the file, to be held for as long as this one may
    ///   write.
    func checkFolder() throws -> StateLock {
        try checkKind()
        let lock = try lock("\(folder)/\(hidden)lock")
        // Only after locking: another server may be writing them.
        try tryPartial()
        return lock
    }

    private func lock(_ path: String) throws -> StateLock {
        do {
            let lock = try StateLock(path)
            if let lack = lock.lack {
                Output.complaint(
                    "\(name) is on a file system without locks (\(lack)): make sure that no other server exports to it."
                )
            }
            return lock
        } catch .taken(let owner) {
            let process = owner.map { "the process \($0)" } ?? "another process"
            throw Misuse(
                "--export-on-exit \(name): \(process) exports to this file already, and the one that ends last would overwrite the other's state. Name another file, or end that server."
            )
        } catch .system(let failure) {
            throw Misuse("\(Failure(path: name, code: failure.code)).")
        }
    }

    private func checkKind() throws(Failure) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        switch status.st_mode & S_IFMT {
        case S_IFREG: if isMountPoint { throw Failure(path: name, code: EBUSY) }
        case S_IFDIR: throw Failure(path: name, code: EISDIR)
        case S_IFLNK: throw Failure(path: name, code: ELOOP)
        default: throw Failure(path: name, code: EINVAL)
        }
    }

    private func tryPartial() throws(Failure) {
        removePartials()
        let partial = partialPath
        try rephrase { () throws(Files.Failure) in
            close(try Files.descriptor(of: partial, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600))
        }
        unlink(partial)
    }

    /// Whether this very file is a container's mount: nothing can replace it, so its folder must be mounted instead.
    private var isMountPoint: Bool {
        // Systems without this file have no such mounts.
        guard let mounts = try? Files.content(of: "/proc/self/mountinfo") else { return false }
        let escaped = path.replacing(" ", with: #"\040"#)
        return String(decoding: mounts, as: UTF8.self).split(separator: "\n").contains { line in
            let words = line.split(separator: " ")
            return words.count > 4 && words[4] == escaped
        }
    }

    /// Removes temporary files of servers killed while writing; they contain private keys.
    private func removePartials() {
        // If the folder is missing, the next step reports it.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        where name.hasPrefix(hidden) && name.hasSuffix(".partial") {
            unlink(folder + "/" + name)
        }
    }

    /// Replaces the content: writes a temporary file, syncs it to disk, and renames it into place.
    ///
    /// Only the owner may read it, since it contains passwords and private keys.
    func write(_ state: JSON) throws(Failure) {
        try rephrase { () throws(Files.Failure) in
            try Files.put(
                Array(state.prettyText.utf8) + [UInt8(ascii: "\n")], at: path, through: partialPath, mode: 0o600)
        }
        Files.sync(folder)
    }

    private func rephrase(_ call: () throws(Files.Failure) -> Void) throws(Failure) {
        do { try call() } catch { throw Failure(path: name, code: error.code) }
    }
}
