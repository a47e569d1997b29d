import ArgumentParser
import Emulation
import Understudy

extension FixturesCommand {
    /// `understudy fixtures schemas`
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
            guard FileSystem.isFolder(folder) else {
                throw Misuse("\(folder) does not exist or is not a folder; expected a folder of fixtures.")
            }
            guard let installed = FixtureStore.installedFolder else {
                throw Misuse("the installed fixtures were not found beside the program; they have some of the schemas.")
            }
            let store = FixtureStore(layers: [installed])
            let emulator = try Misuse.rephrase { () throws(FixtureProblem) in try Emulator(fixtures: store) }
            let named = try vendor.map { emulator.vendors[try emulator.index(of: $0)] }
            let present = emulator.vendors.filter {
                FileSystem.isFolder(StarterFolder.join(folder, $0.identity.id))
            }
            let vendors = named.isEmpty ? (present.isEmpty ? emulator.vendors : present) : named
            for schema in try Starter.schemas(of: vendors, in: store) {
                let path = StarterFolder.join(folder, schema.path)
                try Self.write(schema.bytes, at: path)
                Output.line("wrote \(path)")
            }
        }

        private static func write(_ bytes: [UInt8], at path: String) throws(Misuse) {
            do {
                if let end = path.lastIndex(of: "/") { try Files.makeFolder(String(path[..<end])) }
                try Files.put(bytes, at: path)
            } catch {
                throw Misuse("\(path) cannot be written: \(error).")
            }
        }
    }
}
