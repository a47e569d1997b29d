import ArgumentParser
import Emulation
import Understudy

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

    @Option(
        name: .customLong("switch"), help: "A single behaviour: VENDOR.NAME=VALUE.", completion: .switches)
    var switches: [String] = []

    func sources() throws -> OptionSources {
        let sources = try OptionSources(configurationFile: config)
        for problem in sources.unknownVariables { Output.complaint("understudy: \(problem)") }
        return sources
    }

    func store(_ sources: OptionSources) throws -> FixtureStore {
        let folder = try sources.text("fixtures", flag: fixtures)
        return try FixtureStore.layered(folder: folder)
    }

    /// The folder that takes precedence once it is created; `nil` if it exists or another one is named.
    func awaitedFolder(_ sources: OptionSources) throws -> String? {
        guard try sources.text("fixtures", flag: fixtures) == nil else { return nil }
        return FileSystem.isFolder(FixtureStore.standardFolder) ? nil : FixtureStore.standardFolder
    }

    /// The initial behaviour of the vendors.
    func settings(_ sources: OptionSources) throws -> Settings {
        var settings = try sources.settings()
        do {
            for text in profile {
                let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
                guard let profile = parts.last.flatMap(BehaviourProfile.init) else {
                    throw Misuse("--profile \(text) is not a profile (documented, observed, or VENDOR=PROFILE).")
                }
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
        guard let installed = FixtureStore.installedFolder else {
            guard let over else {
                throw Misuse(
                    "no fixtures: the installed copy was not found beside the program; name a folder with --fixtures.")
            }
            return FixtureStore(layers: [over])
        }
        return FixtureStore(layers: [over].compactMap { $0 } + [installed], judged: judged)
    }

    /// The default folder.
    fileprivate static let standardFolder = "Fixtures"
}
