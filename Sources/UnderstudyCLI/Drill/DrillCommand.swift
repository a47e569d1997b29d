import ArgumentParser
import Contracts
import Emulation
import HTTPEngine
import JSON
import Understudy

struct DrillCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drill",
        abstract: "Runs an app once for each behaviour of a vendor, and says what it does wrong.",
        discussion: """
            Example: understudy drill --vendor rezolve -- npm test
            Example: understudy drill --listen 127.0.0.1:8080 -- ./run-the-app.sh

            The command after -- drives the app, and ends. It finds the vendors at the address in UNDERSTUDY_URL, which \
            also replaces {url} in its words; UNDERSTUDY_SANDBOX is the name of its sandbox. With --listen the address \
            is always that one. The first run has no behaviour armed: it must succeed, and call a vendor. Then it runs \
            once for each behaviour (page DrillYourApp), and the journal says what the app did: what its exit code is \
            does not matter any more.

            Exit codes: 0 nothing is broken, or nothing that the baseline does not list, 1 something is, 2 misuse.
            """)

    @Option(help: "Only the behaviours of this vendor (default: of each that the app calls).", completion: .vendors)
    var vendor: String?

    @Option(help: "Only the behaviour of this name; may be repeated.")
    var only: [String] = []

    @Option(help: "How many runs at a time; each has a sandbox of its own.")
    var parallel = 1

    @Option(help: "The address of the vendors, such as 127.0.0.1:8080, for an app that has it built in.")
    var listen: String?

    @Option(
        help: "A report of --json: what was broken there does not fail this run.",
        completion: .file(extensions: ["json"]))
    var baseline: String?

    @Option(help: "How long one run may take.")
    var timeLimit = "30s"

    @Flag(help: "Write JSON.")
    var json = false

    @Option(help: "A file for the results as JUnit XML.", completion: .file(extensions: ["xml"]))
    var junit: String?

    @OptionGroup var fixtureOptions: FixtureOptions

    @Argument(parsing: .postTerminator, help: "The command that drives the app, after --.")
    var command: [String] = []

    func run() throws {
        try Misuse.require(
            !command.isEmpty, "there is no command; expected it after --, such as understudy drill -- npm test")
        guard (1...64).contains(parallel), parallel == 1 || listen == nil else {
            let reason = listen == nil ? "expected 1 to 64" : "with --listen the runs come one after the other"
            throw Misuse("--parallel is \(parallel); \(reason).")
        }
        // Before there are other threads, which inherit it.
        Signals.blockTermination()
        let emulator = try fixtureOptions.emulator()
        let drills = try chosen(of: emulator, in: try fixtureOptions.store(try fixtureOptions.sources()))
        let known = try baseline.map(DrillReport.baseline)
        if let junit { try ReportFile.check(junit) }
        let app = AppCommand(words: command, limit: try Duration.patience(timeLimit, option: "--time-limit"))
        let listener = try listener()
        let server = try Server(
            ServerConfiguration(listeners: [listener], includesIPv6Loopback: true), handler: Pipeline(emulator))
        // As the app writes it: what an issuer says of itself must be what the app expects.
        let host = BoundAddress.local(listener.host) ?? listener.host
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        let address = "http://\(name):\(server.addresses[0].port)"
        emulator.sandboxes.publicBase.listen(at: address)
        server.start()
        AppCommand.endWithProcess()
        let runner = DrillRunner(emulator: emulator, address: address, isFixed: listen != nil, command: app)
        let report = try Waiting.until { () async throws(Misuse) in
            let start = ContinuousClock.now
            let called = try await runner.calledVendors(Set(drills.map(\.vendor)))
            let items = try await items(for: drills.filter { called.contains($0.vendor) }, runner)
            return DrillReport(items: items, baseline: known, duration: ContinuousClock.now - start)
        }
        if let junit { try ReportFile.write(report.junit, to: junit) }
        if json { Output.json(report.json) } else { for line in report.lines { Output.line(line) } }
        if !report.broken.isEmpty { throw AnswerIsNo() }
    }

    private func chosen(of emulator: Emulator, in store: FixtureStore) throws -> [Drill] {
        let vendors = try vendor.map { [emulator.vendors[try emulator.index(of: $0)]] } ?? emulator.vendors
        let drills = try vendors.flatMap { try Drill.all(of: $0, among: emulator.vendors, in: store) }
        guard !drills.isEmpty else {
            let folders = vendors.map { "\($0.identity.id)/drills" }.joined(separator: ", ")
            throw Misuse("there is no behaviour to drill; expected files in \(folders) of the fixtures.")
        }
        let names = drills.map(\.name)
        for name in only { try Misuse.require(names.contains(name), "no drill is called", name, among: names) }
        return only.isEmpty ? drills : drills.filter { only.contains($0.name) }
    }

    private func listener() throws(Misuse) -> ServerConfiguration.Listener {
        guard let listen else { return .init(port: 0) }
        let colon = listen.lastIndex(of: ":")
        let port = try Misuse.require(
            Int(colon.map { listen[listen.index(after: $0)...] } ?? listen[...]),
            "--listen \(listen) is not an address; expected HOST:PORT such as 127.0.0.1:8080.")
        return .init(host: colon.map { listen[..<$0].filter { $0 != "[" && $0 != "]" } } ?? "127.0.0.1", port: port)
    }

    /// Runs the app once for each behaviour, at most ``parallel`` at a time.
    private func items(for drills: [Drill], _ runner: DrillRunner) async throws(Misuse) -> [DrillReport.Item] {
        let results = await withTaskGroup(of: (Int, Result<DrillReport.Item, Misuse>).self) { group in
            var results: [Int: Result<DrillReport.Item, Misuse>] = [:]
            for (index, drill) in drills.enumerated() {
                if index >= parallel, let (index, result) = await group.next() { results[index] = result }
                if Output.showsProgress { Output.progress("\(results.count + 1)/\(drills.count) \(drill.name)") }
                let run = { @Sendable () async throws(Misuse) in try await runner.item(for: drill, number: index + 1) }
                group.addTask { (index, await Result(run)) }
            }
            for await (index, result) in group { results[index] = result }
            return results
        }
        if Output.showsProgress { Output.progress("") }
        return try results.sorted { $0.key < $1.key }.map { (result) throws(Misuse) in try result.value.get() }
    }
}

struct DrillReport: Sendable {
    struct Item: Sendable {
        let drill: Drill
        let verdict: Drill.Verdict
        let interruption: String?
        /// The exchanges that show it, as the journal shows them.
        let entries: [JSON]
        let duration: Duration
    }

    let items: [Item]
    /// The drills that were broken before; `nil` without a baseline.
    let baseline: Set<String>?
    let duration: Duration

    var broken: [Item] { items.filter { $0.verdict.outcome == .broken && baseline?.contains($0.drill.name) != true } }

    static func baseline(_ path: String) throws(Misuse) -> Set<String> {
        let bytes = try Files.read(path, "the baseline")
        // What is wrong with it is said below.
        guard let items = (try? JSON.parse(bytes))?["behaviours"]?.array else {
            throw Misuse("the baseline \(path) is not a report; expected the JSON that understudy drill --json writes.")
        }
        return Set(items.filter { $0["result"] == "broken" }.compactMap { $0["drill"]?.string })
    }

    // MARK: For people

    var lines: [String] {
        let table = items.map { item in
            let calls = item.verdict.entries.map { "#\($0)" }.joined(separator: " ")
            return [item.drill.name, word(item), calls, item.drill.client]
        }
        let broken = items.filter { $0.verdict.outcome == .broken }
        return Output.lines(of: table) + broken.flatMap(explanation) + ["", summary]
    }

    private func word(_ item: Item) -> String {
        guard item.verdict.outcome == .broken else { return item.verdict.outcome.rawValue }
        return baseline?.contains(item.drill.name) == true ? "broken as before" : "BROKEN"
    }

    private func explanation(of item: Item) -> [String] {
        var lines = ["", "\(word(item))  \(item.drill.name) (\(item.drill.severity.rawValue)): \(item.drill.about)"]
        for (otherwise, message) in item.verdict.faults { lines += ["  \(otherwise)", "    \(message)"] }
        if let interruption = item.interruption { lines.append("  The command was ended: \(interruption).") }
        lines += item.entries.map { "  " + EntryText(entry: $0, isColoured: false).line }
        return (lines + ["  A correct client: \(item.drill.client) (\(item.drill.source))"]).map(Output.printable)
    }

    private var counts: [(outcome: String, count: Int)] {
        [Drill.Outcome.held, .broken, .notReached].map { outcome in
            (outcome.rawValue, items.count { $0.verdict.outcome == outcome })
        }
    }

    private var summary: String {
        let words = counts.map { "\($1) \($0)" }.joined(separator: ", ")
        let known = baseline == nil ? "" : " (\(broken.count) of them new)"
        return
            "\(items.count) \(items.count == 1 ? "behaviour" : "behaviours"): \(words)\(known); \(duration.components.seconds) s"
    }

    // MARK: For programs

    var json: JSON {
        let counts = counts.map { ($0.replacing(" ", with: "_"), JSON($1)) }
        return .object(JSONObject(counts + [("new", JSON(broken.count)), ("behaviours", .array(items.map(json)))]))
    }

    private func json(of item: Item) -> JSON {
        let drill = item.drill
        return [
            "drill": .string(drill.name), "vendor": .string(drill.vendor),
            "result": .string(item.verdict.outcome.rawValue), "severity": .string(drill.severity.rawValue),
            "about": .string(drill.about), "client": .string(drill.client), "source": .string(drill.source),
            "evidence": JSON(drill.evidence?.rawValue),
            "faults": .array(
                item.verdict.faults.map { ["otherwise": .string($0.otherwise), "message": .string($0.message)] }),
            "entries": .array(item.entries), "interruption": JSON(item.interruption),
        ]
    }

    var junit: String { JUnitReport.text([ContractResult(file: "drill", cases: items.map(test))], named: "drill") }

    private func test(of item: Item) -> ContractCase {
        let outcome: ContractCase.Outcome =
            switch item.verdict.outcome {
            case .held: .passed
            case .notReached: .notReached
            case .broken where baseline?.contains(item.drill.name) == true: .skipped
            case .broken:
                .failed([
                    ContractFailure(
                        place: .none, message: item.verdict.faults.map(\.otherwise).joined(separator: " "),
                        difference: Array(explanation(of: item).dropFirst(2)))
                ])
            }
        return ContractCase(
            place: .none, title: item.drill.name, remark: item.drill.about, outcome: outcome, duration: item.duration)
    }
}

/// Runs an app against the sandboxes of a server in this process.
struct DrillRunner: Sendable {
    let emulator: Emulator
    /// Such as `http://127.0.0.1:49213`.
    let address: String
    /// Whether the app only knows the address, so that all runs share the standard sandbox.
    let isFixed: Bool
    let command: AppCommand

    /// Runs the app in a fresh sandbox, where it meets a behaviour or nothing special.
    private func run(
        _ drill: Drill?, number: Int
    ) async throws(Misuse) -> (ending: AppCommand.Ending, entries: [JournalEntry], redactor: Redactor) {
        let name = isFixed ? SandboxName.standard : "drill-\(number)"
        let sandbox = emulator.sandboxes.sandbox(name)
        if isFixed { sandbox.reset() }
        drill?.arm(sandbox)
        let url = isFixed ? address : "\(address)/~\(name)"
        // ours: some room is left for the calls until the next look.
        let ending = try await command.run(at: url, in: name) {
            sandbox.journal.count > 900 || sandbox.journal.bytes > 3 << 20
        }
        // Nothing keeps it elsewhere.
        defer { if !isFixed { _ = try? emulator.sandboxes.remove(name) } }
        return (ending, sandbox.journal.entries(), sandbox.redactor)
    }

    func item(for drill: Drill, number: Int) async throws(Misuse) -> DrillReport.Item {
        let start = ContinuousClock.now
        let run = try await run(drill, number: number)
        let verdict = drill.verdict(on: run.entries, masking: run.redactor)
        let entries = run.entries.filter { verdict.entries.contains($0.id) }.map { json(of: $0, run.redactor) }
        return DrillReport.Item(
            drill: drill, verdict: verdict, interruption: run.ending.interruption, entries: entries,
            duration: ContinuousClock.now - start)
    }

    private func json(of entry: JournalEntry, _ redactor: Redactor) -> JSON {
        MaskedExchange(entry, by: redactor).json(routes: emulator.routes)
    }

    /// The vendors that the app calls in a run without any behaviour, which must succeed.
    ///
    /// - Throws: what is missing.
    func calledVendors(_ wanted: Set<String>) async throws(Misuse) -> Set<String> {
        let run = try await run(nil, number: 0)
        let all = Set(run.entries.compactMap(\.record.vendor))
        let called = all.intersection(wanted)
        let hasSucceeded = run.ending.code == 0
        if hasSucceeded, !called.isEmpty { return called }
        let problem: String
        if hasSucceeded {
            let found = all.isEmpty ? "no vendor" : "only \(all.sorted().joined(separator: ", "))"
            problem =
                "it called \(found); expected calls of \(wanted.sorted().joined(separator: " or ")) to the address in"
                + " UNDERSTUDY_URL, or to {url} in the command, or to that of --listen"
        } else {
            let code = run.ending.code.map { "its exit code was \($0)" }
            problem = run.ending.interruption ?? code ?? "a signal ended it"
        }
        var lines = ["without any behaviour armed the command must succeed and call a vendor, and \(problem)."]
        let calls = run.entries.filter { hasSucceeded || $0.record.failure != nil || $0.record.reason != nil }.suffix(4)
        lines += calls.map { EntryText(entry: json(of: $0, run.redactor), isColoured: false).line }
        let output = run.ending.lastLines.map { "  \(Output.printable($0))" }
        if !output.isEmpty { lines += ["The last lines of its output:"] + output }
        throw Misuse(lines.joined(separator: "\n"))
    }
}
