import Emulation
import Understudy

/// What `init` writes: the sample fixtures of some vendors, their schemas, and the files around them.
struct Starter {
    typealias File = (path: String, bytes: [UInt8])

    private let store: FixtureStore
    private let vendors: [any LoadedVendor]
    /// The vendors whose schemas are written.
    private let described: [any LoadedVendor]
    /// Vendors that were not named, if none was.
    let others: [String]

    /// Where the fixtures go.
    private static let fixtures = "Fixtures/"

    /// Prepares the files of the vendors with these ids; without any, of the first one.
    init(naming ids: [String]) throws {
        guard let installed = FixtureStore.installedFolder else {
            throw Misuse(
                "the installed fixtures were not found beside the program; they contain the files to start from.")
        }
        // Not those in force here: what is written lies over the installed ones.
        let store = FixtureStore(layers: [installed])
        let emulator = try Misuse.rephrase { () throws(FixtureProblem) in try Emulator(fixtures: store) }
        var named: [any LoadedVendor] = []
        for id in ids where !named.contains(where: { $0.identity.id == id }) {
            named.append(emulator.vendors[try emulator.index(of: id)])
        }
        self.store = store
        vendors = named.isEmpty ? Array(emulator.vendors.prefix(1)) : named
        described = named.isEmpty ? emulator.vendors : named
        others = named.isEmpty ? emulator.vendors.dropFirst().map(\.identity.id) : []
    }

    /// All files but the test.
    var files: [File] {
        get throws {
            var files = [
                StarterTemplate.configuration.file(at: "understudy.yaml"),
                StarterTemplate.compose.file(at: "compose.yaml", with: ["version": Emulator.version]),
            ]
            for vendor in vendors { files += try samples(of: vendor.identity.id) }
            let schemas = try Self.schemas(of: described, in: store)
            return files + schemas.map { (Self.fixtures + $0.path, $0.bytes) }
        }
    }

    /// The schemas for all files of these vendors, and for the configuration.
    static func schemas(of vendors: [any LoadedVendor], in store: FixtureStore) throws(Misuse) -> [EditorSchema] {
        var schemas = [StarterTemplate.configurationSchema]
        for vendor in vendors {
            schemas += try Misuse.rephrase { () throws(FixtureProblem) in try EditorSchema.all(of: vendor, in: store) }
        }
        return schemas
    }

    /// The folders of a vendor that may have samples; the first is the vendor's own.
    private static let sampleFolders = ["", "failures/", "scenarios/", "content/"]
    private static let testFile = "first-test.yaml"

    private func samples(of vendor: String) throws -> [File] {
        var files: [File] = []
        for folder in Self.sampleFolders {
            let names = store.names(in: "\(vendor)/starter/\(folder)")
            for name in names where name.hasSuffix(".yaml") && name != Self.testFile {
                let file = try Misuse.rephrase { () throws(FixtureProblem) in
                    try store.file("\(vendor)/starter/\(folder)\(name)")
                }
                files.append(("\(Self.fixtures)\(vendor)/\(folder)\(name)", file.bytes))
            }
        }
        guard !files.isEmpty else {
            throw Misuse(
                "the installed fixtures have no files to start from in \(vendor)/starter; are they of this release?")
        }
        return files
    }

    /// The files of a first test, of the first vendor.
    func test(in language: StarterLanguage, _ clients: ClientSources) throws -> [File] {
        let vendor = vendors[0].identity.id
        let test = try Misuse.rephrase { () throws(FixtureProblem) in
            try StarterTest(try store.document("\(vendor)/starter/\(Self.testFile)"), vendor: vendor)
        }
        let values = test.values(in: language).merging(["clients": clients.folder]) { $1 }
        return language.templates.map { $0.template.file(at: $0.path, with: values) }
    }
}
