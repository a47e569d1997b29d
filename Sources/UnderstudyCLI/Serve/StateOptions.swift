import ArgumentParser
import Emulation
import JSON
import Understudy

/// What `serve` remembers over a restart.
struct StateOptions: ParsableArguments {
    @Option(name: .customLong("import"), help: "A file of --export-on-exit to start with (none).")
    var importFile: String?

    @Option(help: "A file that receives, at the end, what requests made or changed in all sandboxes (none).")
    var exportOnExit: String?

    @Option(
        help: "The longest state that the control API takes, in MB (64); reading it takes some ten times as much.")
    var stateLimit: String?

    /// The longest state that the control API takes, in bytes.
    func limit(_ sources: OptionSources) throws -> Int {
        try sources.value(
            "state-limit", flag: stateLimit, default: Emulator.standardStateLimit,
            expected: "a number of megabytes (1–4096)",
            parse: { Int($0).flatMap { (1...4096).contains($0) ? $0 << 20 : nil } })
    }

    /// The two files, of which each may be missing and both may be one.
    func files(_ sources: OptionSources) throws -> StateFiles {
        try StateFiles(
            source: try sources.text("import", flag: importFile).map(StateFile.init),
            target: try sources.text("export-on-exit", flag: exportOnExit).map(StateFile.init))
    }
}

/// Where the state comes from at the start and goes to at the end.
struct StateFiles {
    let source: StateFile?
    let target: StateFile?
    private let lock: StateLock?

    /// Finds out at the start what would fail at the end.
    fileprivate init(source: StateFile?, target: StateFile?) throws {
        (self.source, self.target) = (source, target)
        lock = try target?.checkFolder()
        guard let source, !source.exists, target?.isSame(as: source) != true else { return }
        throw Misuse(
            "--import \(source.name): there is no such file. On a first start that is right only where --export-on-exit names the same one."
        )
    }

    /// Lays the imported state over what the fixtures give.
    ///
    /// - Returns: what to tell of it; `nil` when nothing was to be imported.
    func restore(_ emulator: Emulator) throws -> String? {
        guard let source else { return nil }
        guard source.exists else { return "There is no \(source.name) yet; it starts with the fixtures alone." }
        let node = try source.read()
        let count = try Misuse.rephrase { () throws(FixtureProblem) in try emulator.importState(node) }
        return "The state of \(Self.sandboxes(count)) was read from \(source.name)."
    }

    /// Saves the state, if it is to be.
    ///
    /// - Returns: what to tell of it.
    func save(_ emulator: Emulator) throws(StateFile.Failure) -> String? {
        guard let target else { return nil }
        let state = emulator.exportState()
        try target.write(Array(state.prettyText.utf8) + [UInt8(ascii: "\n")])
        return "The state of \(Self.sandboxes(state["sandboxes"]?.array?.count ?? 0)) was written to \(target.name)."
    }

    private static func sandboxes(_ count: Int) -> String { "\(count) sandbox\(count == 1 ? "" : "es")" }
}
