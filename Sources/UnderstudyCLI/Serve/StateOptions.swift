import ArgumentParser
import Emulation
import JSON
import Understudy

/// What `serve` keeps across restarts.
struct StateOptions: ParsableArguments {
    @Option(
        name: .customLong("state"),
        help: ArgumentHelp(
            "A folder that keeps every sandbox across restarts (default: none): a second after a change it is on disk.",
            valueName: "folder"),
        completion: .directory)
    var folder: String?

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

    /// The largest state that the control API accepts, in bytes.
    func limit(_ sources: OptionSources) throws -> Int {
        try sources.value(
            "state-limit", flag: stateLimit, default: Emulator.standardStateLimit,
            expected: "a number of megabytes (1–4096)",
            parse: { Int($0).flatMap { (1...4096).contains($0) ? $0 << 20 : nil } })
    }

    /// The keeper of sandboxes in the folder of `--state`.
    ///
    /// - Parameter replica: the name among the replicas that share the folder; `nil` for a server alone.
    func keeper(_ limits: SandboxLimits, as replica: String?, _ sources: OptionSources) throws -> StateKeeper? {
        guard let path = try sources.text("state", flag: folder) else {
            if let replica {
                throw Misuse("--replica \(replica) needs --state: the folder that all replicas share.")
            }
            return nil
        }
        do {
            let keeper = try StateKeeper(folder: path, replica: replica, timeToLive: limits.timeToLive)
            if let lack = keeper.lackOfLocks {
                let care =
                    replica == nil
                    ? "no other server uses it" : "no two replicas have one name, and no server uses it alone"
                Output.complaint("\(path) is on a file system without locks (\(lack)): make sure that \(care).")
            }
            return keeper
        } catch let problem as StateFolderProblem {
            throw Misuse("--state \(problem).")
        } catch let problem as ReplicaProblem {
            throw Misuse("--replica \(problem).")
        } catch StateLock.Failure.taken(let owner) {
            let process = owner.map { "the process \($0)" } ?? "another process"
            throw Misuse(
                "--state \(path): \(process) keeps its sandboxes there. Name another folder, or end that server.")
        } catch StateLock.Failure.system(let failure) {
            throw Misuse("--state \(path) cannot be used: \(failure).")
        }
    }

    /// The two files; both are optional, and they may be the same.
    ///
    /// - Parameter replica: the name among the replicas that share the folder; one of those has nothing to export.
    func files(_ sources: OptionSources, as replica: String?) throws -> StateFiles {
        if let replica, let target = try sources.text("export-on-exit", flag: exportOnExit) {
            throw Misuse(
                "--export-on-exit \(target) does not go with --replica \(replica), which gives its sandboxes to the others: start a server with --state alone to export them."
            )
        }
        return try StateFiles(
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
            "--import \(source.name): there is no such file. On a first start that is right only where --export-on-exit names the same one."
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
        let (count, setAside) = try Misuse.rephrase { () throws(FixtureProblem) in
            try emulator.restoreState(document, from: source.name)
        }
        return ["The state of \(Self.sandboxes(count)) was read from \(source.name)."] + told(setAside, of: source)
    }

    /// The number of parts listed individually.
    private static let mostTold = 20

    private func told(_ parts: [SetAsidePart], of source: StateFile) -> [String] {
        if parts.isEmpty { return [] }
        let count = "\(parts.count) part\(parts.count == 1 ? "" : "s")"
        let fate =
            target == nil
            ? "Without --export-on-exit nothing is written, and \(source.name) stays as it is."
            : "The next export keeps them as they are, in “set_aside”."
        let rest = parts.count - Self.mostTold
        return ["\(count) of it cannot be read and \(parts.count == 1 ? "was" : "were") set aside. \(fate)"]
            + parts.prefix(Self.mostTold).map { "  \($0)" } + (rest > 0 ? ["  and \(rest) more"] : [])
    }

    /// Saves the state, if configured.
    ///
    /// - Returns: a line that reports it.
    func save(_ emulator: Emulator) throws(StateFile.Failure) -> String? {
        guard let target else { return nil }
        let state = emulator.exportState()
        try target.write(Array(state.prettyText.utf8) + [UInt8(ascii: "\n")])
        return "The state of \(Self.sandboxes(state["sandboxes"]?.array?.count ?? 0)) was written to \(target.name)."
    }

    private static func sandboxes(_ count: Int) -> String { "\(count) sandbox\(count == 1 ? "" : "es")" }
}
