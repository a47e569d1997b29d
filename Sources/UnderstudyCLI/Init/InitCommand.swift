import ArgumentParser
import Emulation
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
        var written = StarterFolder(folder)
        written.add(try starter.files)
        if let language { written.add(try starter.test(in: language, clients: clients)) }
        try written.write()
        for path in written.paths { Output.line("wrote \(path)") }
        if !starter.others.isEmpty {
            Output.line(
                "There are files to start from for more vendors: --vendor \(starter.others.joined(separator: ", --vendor "))"
            )
        }
        Output.line()
        Output.line("Next:")
        for command in NextCommands(folder: folder, language: language).all { Output.line("  \(command)") }
    }
}

private struct NextCommands {
    let folder: String
    let language: StarterLanguage?
    private var program: String { CommandLine.arguments.first ?? "understudy" }

    var all: [String] { ["\(Output.quoted(program)) fixtures check \(path("Fixtures"))", test] }

    private var test: String {
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

/// Files to be written into a folder: all of them, or none where one is in the way.
struct StarterFolder {
    private let root: String
    private var files: [Starter.File] = []

    init(_ root: String) { self.root = root }

    mutating func add(_ added: [Starter.File]) { files += added.map { (FixtureStore.join(root, $0.path), $0.bytes) } }

    var paths: [String] { files.map(\.path) }

    /// - Throws: what is in the way; then nothing is written, or what was written is gone again.
    func write() throws(Misuse) {
        try checkRoom()
        var made: [Made] = []
        do throws(Misuse) {
            try make(noting: &made)
        } catch {
            for each in made.reversed() { each.remove() }
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

    private struct Made {
        let path: String
        let isFolder: Bool

        func remove() { _ = isFolder ? rmdir(path) : unlink(path) }
    }

    private func make(noting made: inout [Made]) throws(Misuse) {
        for folder in folders where !FileSystem.isFolder(folder) {
            try Misuse.writing(folder, Self.ending) { try Files.makeFolder(folder) }
            made.append(Made(path: folder, isFolder: true))
        }
        for (path, bytes) in files {
            try Misuse.writing(path, Self.ending) {
                // `link` fails if the file has been created in the meantime.
                try Files.put(bytes, at: path) { new, final in link(new, final) == 0 ? unlink(new) : -1 }
            }
            made.append(Made(path: path, isFolder: false))
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
