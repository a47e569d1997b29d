import ArgumentParser
import Emulation
import HTTPEngine
import JSON
import Understudy

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

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
        guard !command.isEmpty else {
            throw Misuse("there is no command; expected it after --, such as understudy drill -- npm test")
        }
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
        for name in only {
            _ = try Misuse.require(names.first { $0 == name }, "no drill is called", name, among: names)
        }
        return only.isEmpty ? drills : drills.filter { only.contains($0.name) }
    }

    private func listener() throws(Misuse) -> ServerConfiguration.Listener {
        guard let listen else { return .init(port: 0) }
        let colon = listen.lastIndex(of: ":")
        guard let port = Int(colon.map { listen[listen.index(after: $0)...] } ?? listen[...]) else {
            throw Misuse("--listen \(listen) is not an address; expected HOST:PORT such as 127.0.0.1:8080.")
        }
        return .init(host: colon.map { listen[..<$0].filter { $0 != "[" && $0 != "]" } } ?? "127.0.0.1", port: port)
    }

    /// Runs the app once for each behaviour, at most ``parallel`` at a time.
    private func items(for drills: [Drill], _ runner: DrillRunner) async throws(Misuse) -> [DrillReport.Item] {
        let isWatched = isatty(STDERR_FILENO) == 1
        let results = await withTaskGroup(of: (Int, Result<DrillReport.Item, Misuse>).self) { group in
            var results: [Int: Result<DrillReport.Item, Misuse>] = [:]
            for (index, drill) in drills.enumerated() {
                if index >= parallel, let (index, result) = await group.next() { results[index] = result }
                if isWatched { Output.progress("\(results.count + 1)/\(drills.count) \(drill.name)") }
                let run = { @Sendable () async throws(Misuse) in try await runner.item(for: drill, number: index + 1) }
                group.addTask { (index, await Result(run)) }
            }
            for await (index, result) in group { results[index] = result }
            return results
        }
        if isWatched { Output.progress("") }
        var items: [DrillReport.Item] = []
        for index in drills.indices { if let result = results[index] { items.append(try result.get()) } }
        return items
    }
}
