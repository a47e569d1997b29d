import ArgumentParser
import Emulation
import Understudy

/// `understudy init`
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
        for file in try starter.files { written.add(file.bytes, at: file.path) }
        if let language {
            let clients = try ClientSources(clients, for: language)
            for file in try starter.test(in: language, clients) { written.add(file.bytes, at: file.path) }
        }
        try written.write()
        for path in written.paths { Output.line("wrote \(path)") }
        if !starter.others.isEmpty {
            Output.line(
                "There are files to start from for more vendors: --vendor \(starter.others.joined(separator: ", --vendor "))"
            )
        }
        Output.line()
        Output.line("Next:")
        for command in NextCommands(folder: folder, language).all { Output.line("  \(command)") }
    }
}

/// The commands to paste after `init`.
private struct NextCommands {
    private let folder: String
    private let language: StarterLanguage?
    private let program = CommandLine.arguments.first ?? "understudy"

    init(folder: String, _ language: StarterLanguage?) {
        self.folder = folder
        self.language = language
    }

    var all: [String] { ["\(quoted(program)) fixtures check \(path("Fixtures"))", test] }

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
                ? "\(quoted(program)) serve"
                : "\(quoted(program)) serve --fixtures \(path("Fixtures")) --config \(path("understudy.yaml"))"
        }
    }

    /// The clients find a program in `PATH` by themselves.
    private var binary: String {
        guard program.utf8.contains(UInt8(ascii: "/")), let path = FileSystem.realPath(program) else { return "" }
        return "UNDERSTUDY_BINARY=\(quoted(path)) "
    }

    private func path(_ path: String) -> String { quoted(StarterFolder.join(folder, path)) }

    private func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"),
                UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isPlain ? text : "'\(text.replacing("'", with: "'\\''"))'"
    }
}
