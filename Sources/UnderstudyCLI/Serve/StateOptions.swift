import ArgumentParser
import Emulation
import JSON
import Understudy

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
