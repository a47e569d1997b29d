import ArgumentParser
import Emulation
import JSON
import Understudy

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Writes a folder to start from: sample fixtures, configuration, a Compose file, a first test.",
        discussion: """
            Example: understudy init
            Example: understudy init my-backend --vendor rezolve --language python

            Every fixture file names the schema with which editors complete and
            check it. Nothing is overwritten: if one of the files exists already,
            nothing is written.
            """)

    @Argument(help: "The folder to write into; created if it does not exist.", completion: .directory)
    var folder = "."

    @Option(
        help:
            "A vendor to write sample fixtures for; may be repeated (default: the first vendor, and the schemas of all).",
        completion: .vendors)
    var vendor: [String] = []

    @Option(
        help: "The language of the first test: swift, python or javascript (default: no test).",
        completion: .list(StarterLanguage.allCases.map(\.rawValue)))
    var language: String?

    @Option(
        help: "The folder of the clients for test suites (default: Sources/Clients of the program's checkout).",
        completion: .directory)
    var clients: String?

    func run() throws {
        guard !folder.isEmpty else { throw Misuse("the folder is empty; leave it out, or give one.") }
        let language = try language.map(StarterLanguage.named)
        if let clients, language == nil {
            throw Misuse("--clients \(clients) is for the first test; name its language with --language.")
        }
        let starter = try Starter(naming: vendor)
        var files = try starter.files
        if let language { files += try starter.test(in: language, clients: clients) }
        let written = StarterFiles(files: files.map { (FixtureStore.join(folder, $0.path), $0.bytes) })
        try written.write()
        for path in written.paths { Output.line("wrote \(path)") }
        if !starter.others.isEmpty {
            Output.line(
                "There are files to start from for more vendors: --vendor \(starter.others.joined(separator: ", --vendor "))"
            )
        }
        Output.line()
        Output.line("Next:")
        Output.line("  \(Output.quoted(program)) fixtures check \(path("Fixtures"))")
        Output.line("  \(test(in: language))")
    }

    private var program: String { CommandLine.arguments.first ?? "understudy" }

    /// The command that runs the first test, or else the server.
    private func test(in language: StarterLanguage?) -> String {
        switch language {
        case .swift?: "\(binary)swift test --package-path \(path("tests"))"
        case .python?:
            "python3 -m venv \(path("tests/.venv")) && \(path("tests/.venv/bin/pip")) install -r \(path("tests/requirements.txt")) "
                + "&& \(binary)\(path("tests/.venv/bin/pytest")) \(path("tests"))"
        case .javascript?:
            "npm install --prefix \(path("tests")) && \(binary)node --test \(path("tests/first-call.test.mjs"))"
        case nil:
            folder == "."
                ? "\(Output.quoted(program)) serve"
                : "\(Output.quoted(program)) serve --fixtures \(path("Fixtures")) --config \(path("understudy.yaml"))"
        }
    }

    /// The clients find a program in `PATH` by themselves.
    private var binary: String {
        guard program.utf8.contains(UInt8(ascii: "/")), let path = FileSystem.realPath(program) else { return "" }
        return "UNDERSTUDY_BINARY=\(Output.quoted(path)) "
    }

    private func path(_ path: String) -> String { Output.quoted(FixtureStore.join(folder, path)) }
}

/// Files to be written: all of them, or none where one is in the way.
private struct StarterFiles {
    let files: [Starter.File]

    var paths: [String] { files.map(\.path) }

    /// - Throws: what is in the way; then nothing is written, or what was written is gone again.
    func write() throws(Misuse) {
        try checkRoom()
        var made: [String] = []
        do throws(Misuse) {
            try make(noting: &made)
        } catch {
            // `remove` takes files and empty folders.
            for path in made.reversed() { remove(path) }
            throw error
        }
    }

    private func checkRoom() throws(Misuse) {
        let present = paths.filter(Files.exists)
        guard present.isEmpty else {
            let (are, them) = present.count > 1 ? ("are", "them") : ("is", "it")
            throw Misuse(
                "\(Nearest.list(present)) \(are) there already, and nothing is overwritten; move \(them) away, or name another folder."
            )
        }
        for folder in folders where Files.exists(folder) && !FileSystem.isFolder(folder) {
            throw Misuse("\(folder) is not a folder, and files are to be written into it; name another folder.")
        }
    }

    private func make(noting made: inout [String]) throws(Misuse) {
        for folder in folders where !FileSystem.isFolder(folder) {
            try Misuse.writing(folder, Self.ending) { try Files.makeFolder(folder) }
            made.append(folder)
        }
        for (path, bytes) in files {
            try Misuse.writing(path, Self.ending) {
                // `link` fails if the file has been created in the meantime.
                try Files.put(bytes, at: path) { new, final in link(new, final) == 0 ? unlink(new) : -1 }
            }
            made.append(path)
        }
    }

    /// All folders above the files, outer ones first.
    private var folders: [String] {
        var folders: [String] = []
        for (path, _) in files {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            for count in parts.indices {
                let folder = parts[...count].joined(separator: "/")
                if !folder.isEmpty, !folders.contains(folder) { folders.append(folder) }
            }
        }
        return folders
    }

    private static let ending = ". Nothing was left behind."
}

/// What `init` writes: the sample fixtures of some vendors, their schemas, and the files around them.
struct Starter {
    typealias File = (path: String, bytes: [UInt8])

    private let store: FixtureStore
    private let vendors: [any AnyLoadedVendor]
    private let described: [any AnyLoadedVendor]
    /// Other vendors that have samples, if none was named.
    let others: [String]

    private static let fixtures = "Fixtures/"

    /// Prepares the files of the vendors with these ids; without any, of the first one.
    init(naming ids: [String]) throws {
        let installed = try Misuse.require(
            FixtureStore.installedFolder,
            "the installed fixtures were not found beside the program; they contain the files to start from.")
        // Not those in force here: the written files override the installed ones.
        let store = FixtureStore(layers: [installed])
        let emulator = try Emulator(fixtures: store)
        var named: [any AnyLoadedVendor] = []
        for id in ids where !named.contains(where: { $0.identity.id == id }) {
            named.append(emulator.vendors[try emulator.index(of: id)])
        }
        self.store = store
        vendors = named.isEmpty ? Array(emulator.vendors.prefix(1)) : named
        described = named.isEmpty ? emulator.vendors : named
        others = named.isEmpty ? emulator.vendors.dropFirst().map(\.identity.id) : []
    }

    var files: [File] {
        get throws {
            var files = [
                ("understudy.yaml", PackageResources.understudy_yaml),
                ("compose.yaml", Self.filled(PackageResources.compose_yaml, ["version": Emulator.version])),
            ]
            for vendor in vendors { files += try samples(of: vendor.identity.id) }
            let schemas = try Self.schemas(of: described, in: store)
            return files + schemas.map { (Self.fixtures + $0.path, $0.bytes) }
        }
    }

    /// The schemas for all files of these vendors, and for the configuration.
    static func schemas(of vendors: [any AnyLoadedVendor], in store: FixtureStore) throws -> [EditorSchema] {
        var schemas = [configurationSchema]
        for vendor in vendors { schemas += try EditorSchema.all(of: vendor, in: store) }
        return schemas
    }

    /// The folders of a vendor that may have samples; the first is the vendor's own.
    private static let sampleFolders = ["", "failures/", "content/"]
    private static let testFile = "first-test.yaml"

    private func samples(of vendor: String) throws -> [File] {
        let own = Self.fixtures + vendor
        var files: [File] = []
        for folder in Self.sampleFolders {
            let names = store.names(in: "\(vendor)/starter/\(folder)")
            for name in names where name.hasSuffix(".yaml") && name != Self.testFile {
                let file = try store.file("\(vendor)/starter/\(folder)\(name)")
                files.append(("\(own)/\(folder)\(name)", file.bytes))
            }
            // The accounts of a vendor without samples are one.
            if files.isEmpty { files.append(("\(own)/accounts.yaml", try store.file("\(vendor)/accounts.yaml").bytes)) }
            if folder == "failures/" {
                files.append(("\(own)/scenarios/my-busy-backend.yaml", try scenario(of: vendor)))
            }
        }
        return files
    }

    /// The scenario that the first test plays.
    private func scenario(of vendor: String) throws -> [UInt8] {
        let calls = try store.document("\(vendor)/starter/\(Self.testFile)").json()
        let values = [
            "vendor": vendor, "about": calls["about"]?.string, "route": calls["route"]?.string,
            "failure": calls["refusal"]?["failure"]?.string,
        ]
        return Self.filled(PackageResources.my_busy_backend_yaml, values.compactMapValues(\.self))
    }

    /// The files of a first test of the first vendor: a call that is answered, and refused the second time.
    ///
    /// - Parameter clients: the folder of the clients, if it was named.
    func test(in language: StarterLanguage, clients: String?) throws -> [File] {
        let vendor = vendors[0].identity.id
        let calls = try store.document("\(vendor)/starter/\(Self.testFile)").json()
        var values = language.values(of: calls)
        values["clients"] = try Self.clients(clients, for: language)
        return language.files.map { ($0.path, Self.filled($0.bytes, values)) }
    }

    /// The folder of the clients, which are on no registry: the named one, else that of the checkout or the installation
    /// that the program is from.
    private static func clients(_ named: String?, for language: StarterLanguage) throws(Misuse) -> String {
        let candidates = named.map { [$0] } ?? candidates
        let found = candidates.first { FileSystem.isFolder("\($0)/\(language.clientFolder)") }
        if let found, let real = FileSystem.realPath(found) { return real }
        if let named {
            throw Misuse(
                "--clients \(named) has no folder \(language.clientFolder); expected Sources/Clients of a checkout.")
        }
        throw Misuse(
            "the client for \(language.rawValue) was not found near the program; name the folder Sources/Clients of a checkout with --clients."
        )
    }

    /// The folders above the installed fixtures may be a checkout, or an installation.
    private static var candidates: [String] {
        guard let installed = FixtureStore.installedFolder, let real = FileSystem.realPath(installed) else { return [] }
        let parts = real.split(separator: "/")
        return parts.indices.reversed().flatMap { count in
            let folder = "/" + parts[..<count].joined(separator: "/")
            return ["\(folder)/Sources/Clients", "\(folder)/Clients"]
        }
    }

    /// A file with values in place of their names; a line whose value is missing is dropped.
    ///
    /// The further lines of a value are indented like its first.
    private static func filled(_ bytes: [UInt8], _ values: [String: String]) -> [UInt8] {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let filled = lines.compactMap { line -> String? in
            let indentation = "\n" + line.prefix { $0 == " " }
            let text = values.reduce(String(line)) { text, value in
                text.replacing("{{\(value.key)}}", with: value.value.replacing("\n", with: indentation))
            }
            return text.firstRange(of: "{{") != nil ? nil : text
        }
        return Array(filled.joined(separator: "\n").utf8)
    }

    /// The schema of the configuration, with what the comments of `understudy.yaml` say of each option.
    private static var configurationSchema: EditorSchema {
        var options: [(name: String, about: String)] = []
        var comment: [Substring] = []
        let configuration = String(decoding: PackageResources.understudy_yaml, as: UTF8.self)
        for line in configuration.split(separator: "\n", omittingEmptySubsequences: false) {
            let text = line.drop { $0 == "#" || $0 == " " }
            let name = text.prefix { $0 != ":" }
            if OptionSources.names.contains(String(name)) {
                options.append((String(name), comment.joined(separator: " ")))
            }
            comment = line.hasPrefix("# ") ? comment + [text] : []
        }
        return .configuration(options: options)
    }
}

/// The languages that a first test can be written in: those that have a client.
enum StarterLanguage: String, CaseIterable {
    case swift, python, javascript

    static func named(_ name: String) throws(Misuse) -> StarterLanguage {
        try Misuse.require(
            StarterLanguage(rawValue: name), "there is no client for the language", name,
            among: allCases.map(\.rawValue))
    }

    /// The folder of its client among the others.
    var clientFolder: String {
        switch self {
        case .swift: "Swift"
        case .python: "Python"
        case .javascript: "JavaScript"
        }
    }

    var files: [Starter.File] {
        switch self {
        case .swift:
            [
                ("tests/Package.swift", PackageResources.Package_swift_txt),
                ("tests/Tests/FirstCallTests/FirstCallTests.swift", PackageResources.FirstCallTests_swift_txt),
            ]
        case .python:
            [
                ("tests/requirements.txt", PackageResources.requirements_txt),
                ("tests/conftest.py", PackageResources.conftest_py_txt),
                ("tests/test_first_call.py", PackageResources.test_first_call_py_txt),
            ]
        case .javascript:
            [
                ("tests/package.json", PackageResources.package_json),
                ("tests/first-call.test.mjs", PackageResources.first_call_test_mjs_txt),
            ]
        }
    }

    /// The values of a vendor's `first-test.yaml` as literals, by their paths, such as `request.method`.
    func values(of calls: JSON) -> [String: String] {
        var values: [String: String] = [:]
        for part in calls.object ?? [:] {
            for member in part.value.object ?? [:] {
                let lines = member.value.object?.map { "\(literal(.string($0.name))): \(literal($0.value))," }
                values["\(part.name).\(member.name)"] = lines?.joined(separator: "\n") ?? literal(member.value)
            }
            values[part.name] = literal(part.value)
        }
        return values
    }

    /// A literal, which all three write as JSON does; in a text `{token}` stands for the variable `token`.
    private func literal(_ value: JSON) -> String {
        let text = value.text
        guard text.firstRange(of: "{token}") != nil else { return text }
        switch self {
        case .swift: return text.replacing("{token}", with: "\\(token)")
        case .python: return "f" + text
        case .javascript: return "`\(text.dropFirst().dropLast().replacing("{token}", with: "${token}"))`"
        }
    }
}
