import ArgumentParser
import Emulation
import Understudy

struct FixturesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fixtures", abstract: "Works on fixture files.",
        subcommands: [Check.self, Import.self, Schemas.self])

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Reads fixture folders as serve would, and says what is wrong.",
            discussion: "Example: understudy fixtures check ./Fixtures")

        @Argument(
            help: "A folder; its files override the installed ones. Several are checked one by one.",
            completion: .directory)
        var folder: [String]

        func run() throws {
            // Most of them are the installed ones, for each folder again.
            var goodContracts: Set<UInt64> = []
            if folder.count == 1 { return try check(folder[0], &goodContracts) }
            var isGood = true
            for folder in folder {
                Output.line("\(folder):")
                do {
                    try check(folder, &goodContracts)
                } catch let error as any WrongInput {
                    Output.line(error.description)
                    isGood = false
                }
            }
            if !isGood { throw AnswerIsNo() }
        }

        /// Enough of them to mend (ours).
        private static let mostProblems = 20

        private static func list(_ problems: [FixtureProblem], _ isIncomplete: Bool) -> String {
            var lines = problems.prefix(mostProblems).map(\.description)
            if problems.count > mostProblems { lines.append("and \(problems.count - mostProblems) more") }
            if problems.count > 1, isIncomplete {
                lines.append("What refers to an entry with a mistake may be listed only because of that.")
            }
            return lines.joined(separator: "\n")
        }

        private func check(_ folder: String, _ goodContracts: inout Set<UInt64>) throws {
            let store = try FixtureStore.layered(folder: folder, judged: nil)
            store.collectProblems()
            let emulator: Emulator
            do {
                emulator = try Emulator(fixtures: store)
                // Rejected here as `contract run` would.
                try ContractFiles.check(store, besides: &goodContracts)
                // What a start leaves unread.
                for vendor in emulator.vendors {
                    try store.collecting(of: vendor.identity.id) { () throws(FixtureProblem) in
                        _ = try vendor.description()
                    }
                    _ = try Drill.all(of: vendor, among: emulator.vendors, in: store)
                }
                if let first = store.problems.first { throw first }
            } catch let problem as FixtureProblem {
                throw Misuse(Self.list(store.problems.isEmpty ? [problem] : store.problems, store.isIncomplete))
            }
            let usage = try store.usage(of: folder)
            guard !usage.read.isEmpty else {
                let example = emulator.vendors.first.map { "\($0.identity.id)/accounts.yaml" } ?? ""
                throw Misuse("\(folder) holds no file that would be read; expected one such as \(example).")
            }
            Output.line("read: \(usage.read.joined(separator: ", "))")
            let unread = usage.unread.filter { !$0.hasSuffix(FixtureStore.schemaSuffix) }
            for file in FixtureStore.hinted(unread, emulator.inForce.loaded.vendors.map(\.identity.id)) {
                Output.line("not read: \(file)")
            }
            for remark in store.remarks { Output.line("warning: \(remark)") }
            for vendor in emulator.vendors {
                Output.line(
                    "\(vendor.identity.id): \(vendor.routes.count) routes, \(vendor.failureNames.count) failures, good")
            }
        }
    }

    struct Schemas: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "schemas",
            abstract: "Writes the schemas with which editors complete and check fixture files.",
            discussion: """
                Example: understudy fixtures schemas ./Fixtures

                It replaces the schemas that understudy init wrote, such as after an
                update. A file names its schema in its first line; only editors read it.
                """)

        @Argument(help: "The folder of fixtures.", completion: .directory)
        var folder: String

        @Option(
            help: "Only the schemas of this vendor; may be repeated (default: vendors with a folder there, or all).",
            completion: .vendors)
        var vendor: [String] = []

        func run() throws {
            try Misuse.require(
                FileSystem.isFolder(folder),
                "\(folder) does not exist or is not a folder; expected a folder of fixtures.")
            let installed = try Misuse.require(
                FixtureStore.installedFolder,
                "the installed fixtures were not found beside the program; they have some of the schemas.")
            let store = FixtureStore(layers: [installed])
            let emulator = try Emulator(fixtures: store)
            // Own routes are in no installed fixtures.
            let mounted = emulator.inForce.loaded.vendors
            let named = try vendor.map { name in
                try mounted.first { $0.identity.id == name } ?? emulator.vendors[try emulator.index(of: name)]
            }
            let present = mounted.filter { FileSystem.isFolder(FixtureStore.join(folder, $0.identity.id)) }
            let vendors = named.isEmpty ? (present.isEmpty ? emulator.vendors : present) : named
            for schema in try Starter.schemas(of: vendors, in: store) {
                let path = FixtureStore.join(folder, schema.path)
                try Self.write(schema.bytes, at: path)
                Output.line("wrote \(path)")
            }
        }

        fileprivate static func write(_ bytes: [UInt8], at path: String) throws(Misuse) {
            try Misuse.writing(path) {
                if let end = path.lastIndex(of: "/") { try Files.makeFolder(String(path[..<end])) }
                try Files.put(bytes, at: path)
            }
        }
    }

    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import", abstract: "Makes a fixture file of a recorded call, its secrets masked.",
            discussion: """
                Example: understudy fixtures import basket.har --output Fixtures/own/basket.yaml

                The call, a HAR, a curl command or HTTP as text, becomes a route of your
                own with the recorded answer; or a contract case of the vendor whose route
                it calls. Of several calls in a HAR, those that fit are taken.
                """)

        @OptionGroup var recording: RecordingInput

        @Flag(help: "Write contract cases (.hurl) of the calls to vendors.")
        var contract = false

        @Option(help: "The new file (default: standard output).", completion: .file(extensions: ["yaml", "hurl"]))
        var output: String?

        @OptionGroup var fixtureOptions: FixtureOptions

        func run() throws {
            if let output, FileSystem.holds(output) {
                throw Misuse("--output \(output) exists; expected the name of a new file.")
            }
            let emulator = try fixtureOptions.emulator()
            let explainer = Explainer(emulator, emulator.sandboxes.standard.settings)
            try recording.read { calls in
                var omitted: [String] = []
                let text =
                    contract
                    ? try explainer.contractCases(of: calls, at: SandboxClock.machine)
                    : try explainer.ownRoutes(of: calls, omitted: &omitted)
                for line in omitted { Output.complaint("understudy: left out: \(line.shown)") }
                guard let output else { return Output.text(Array(text.utf8)) }
                try Schemas.write(Array(text.utf8), at: output)
                Output.line("wrote \(output)")
            }
        }
    }
}

/// The options about fixtures and behaviour that `serve` and the offline commands share.
struct FixtureOptions: ParsableArguments {
    @Option(
        help: "A folder whose files override the installed fixtures (default: ./Fixtures, if it exists).",
        completion: .directory)
    var fixtures: String?

    @Option(help: "A configuration file (default: ./understudy.yaml, if it exists).", completion: .file())
    var config: String?

    @Option(
        help: "The behaviour at the start: documented or observed (default: documented); VENDOR=PROFILE for one.",
        completion: .profiles)
    var profile: [String] = []

    @Option(name: .customLong("switch"), help: "A single behaviour: VENDOR.NAME=VALUE.", completion: .switches)
    var switches: [String] = []

    func sources() throws -> OptionSources {
        let sources = try OptionSources(configurationFile: config)
        for problem in sources.unknownVariables { Output.complaint("understudy: \(problem)") }
        return sources
    }

    func store(_ sources: OptionSources) throws -> FixtureStore {
        try FixtureStore.layered(folder: try sources.text("fixtures", flag: fixtures))
    }

    /// The folder that takes precedence once it is created; `nil` if it exists or another one is named.
    func awaitedFolder(_ sources: OptionSources) throws -> String? {
        guard try sources.text("fixtures", flag: fixtures) == nil else { return nil }
        return FileSystem.isFolder(FixtureStore.standardFolder) ? nil : FixtureStore.standardFolder
    }

    func settings(_ sources: OptionSources) throws -> Settings {
        var settings = try sources.settings()
        do {
            for text in profile {
                let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
                let profile = try Misuse.require(
                    parts.last.flatMap(BehaviourProfile.init),
                    "--profile \(text) is not a profile (documented, observed, or VENDOR=PROFILE).")
                if parts.count == 2 {
                    try settings.setProfile(profile, of: parts[0], among: Catalog.vendors)
                } else {
                    settings.setProfile(profile)
                }
            }
            for text in switches {
                let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
                guard parts.count == 2 else { throw Misuse("--switch \(text) is not of the form VENDOR.NAME=VALUE.") }
                try settings.set(parts[0], to: parts[1], among: Catalog.vendors)
            }
        } catch let problem as SettingsProblem {
            throw Misuse("\(problem) (set by a flag).")
        }
        return settings
    }

    /// An emulator over the fixtures, for offline commands.
    ///
    /// - Parameter files: files that go before those of any folder, by their paths.
    func emulator(replacing files: [String: FixtureStore.File] = [:]) throws -> Emulator {
        let sources = try sources()
        var (store, settings) = (try store(sources), try settings(sources))
        store.replaced = files
        return try Emulator(fixtures: store, settings: settings)
    }
}

extension FixtureStore {
    /// The installed fixtures, overridden by a folder.
    ///
    /// - Parameter judged: the digests of the installed files that tests have judged.
    static func layered(folder: String?, judged: [UInt64]? = judgedFiles) throws -> FixtureStore {
        if let folder, !FileSystem.isFolder(folder) {
            throw Misuse(
                "the fixture folder \(folder) does not exist or is not a folder (named by an argument, --fixtures, UNDERSTUDY_FIXTURES or the configuration file)."
            )
        }
        let over = folder ?? (FileSystem.isFolder(standardFolder) ? standardFolder : nil)
        let installed = installedFolder
        let layers = [over, installed].compactMap(\.self)
        try Misuse.require(
            !layers.isEmpty,
            "no fixtures: the installed copy was not found beside the program; name a folder with --fixtures.")
        return FixtureStore(layers: layers, judged: installed == nil ? nil : judged)
    }

    fileprivate static let standardFolder = "Fixtures"
}
