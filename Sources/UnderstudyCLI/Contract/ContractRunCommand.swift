import ArgumentParser
import Contracts
import Emulation
import JSON
import Understudy

struct ContractRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Sends the requests of Hurl files and compares the answers.",
        discussion: """
            Example: understudy contract run
            Example: understudy contract run FILES --against http://127.0.0.1:8080
            Example: understudy contract run FILES --against https://vendor.example \\
              --variables-file credentials.env --report drift.md

            Without --against, an emulator inside this process answers. If --against names a running emulator, each \
            file gets its own sandbox, unless the URL names one (/~NAME). If it names another server, such as the \
            vendor's, control calls are skipped, and variables supply what they would have captured.

            --report compares every answer with the vendor's document (understudy routes --openapi) and says by route \
            which members are new, gone or of another type, and which statuses are not described. It shows no values.

            {{base}} in a file is the server's URL. Hurl runs the same files:
            hurl --test --jobs 1 --variable base=http://127.0.0.1:8080 FILES

            Exit codes: 0 all answers are as expected, 1 one is not, or differs from its document, or no case was run, \
            2 misuse.
            """)

    @Argument(
        help: "Hurl files, or folders of them (default: the contract cases of the fixtures).",
        completion: .file(extensions: ["hurl"]))
    var files: [String] = []

    @Option(help: "The server to call, such as http://127.0.0.1:8080 (default: an emulator inside this process).")
    var against: String?

    @Option(name: .customLong("variable"), help: "A variable: NAME=VALUE.")
    var variables: [String] = []

    @Option(help: "A file of variables, NAME=VALUE on each line.", completion: .file())
    var variablesFile: String?

    @Option(help: "A file for the results as JUnit XML.", completion: .file(extensions: ["xml"]))
    var junit: String?

    @Option(
        help: "A file for how the answers differ from the vendors' documents, as Markdown; also in --junit and --json.",
        completion: .file(extensions: ["md"]))
    var report: String?

    @Option(help: "The token of the server's control API, or @FILE (default: $UNDERSTUDY_CONTROL_TOKEN).")
    var controlToken: String?

    @Option(help: "How long to wait for each answer of the server (default: 30s).")
    var within: String?

    @Flag(help: "Write JSON.")
    var json = false

    @OptionGroup var fixtureOptions: FixtureOptions

    func run() throws {
        let sources = try fixtureOptions.sources()
        let files = try ContractFiles.read(files, else: try fixtureOptions.store(sources))
        let given = try ContractVariables(variables, file: variablesFile)
        try Misuse.require(
            given["base"] == nil,
            "the variable base is the server's URL; leave it out, and name the server with --against.")
        let contractTarget = try contractTarget(sources)
        for path in [junit, report].compactMap(\.self) { try ReportFile.check(path) }
        let drift = report == nil ? nil : try Drift(from: try fixtureOptions.emulator())
        if !json, let note = contractTarget.note { Output.complaint(note) }
        var results: [ContractResult] = []
        for file in files {
            let result = Waiting.until { await contractTarget.run(file, given, comparing: drift) }
            if !json { for line in result.lines { Output.line(Output.printable(line)) } }
            results.append(result)
        }
        var summary = [ContractResult.summary(of: results)]
        if let report, let drift {
            let (text, result, line) = drift.report(report, of: against ?? "the emulator in this process")
            try ReportFile.write(text, to: report)
            results.append(result)
            summary.append(line)
        }
        if let junit { try ReportFile.write(JUnitReport.text(results), to: junit) }
        if json { Output.json(.array(results.map(\.json))) } else { for line in summary { Output.line(line) } }
        guard results.allSatisfy(\.hasPassed) else { throw AnswerIsNo() }
        guard results.contains(where: \.hasRun) else { throw AnswerIsNo(message: "no case was run.") }
    }

    private func contractTarget(_ sources: OptionSources) throws -> ContractTarget {
        guard let against else {
            guard within == nil, controlToken == nil else {
                throw Misuse(
                    "--within and --control-token are for a server; name one with --against, or leave them out.")
            }
            return .inProcess(try fixtureOptions.emulator())
        }
        let limit = try Duration.patience(within ?? "30s")
        let trust = try LocalAuthority.trust(at: against, sources)
        let token = try sources.controlToken(flag: controlToken)
        OptionSources.warning(ofControlToken: controlToken).map(Output.complaint)
        return try .server(against, ServerAccess(trust: trust, limit: limit), controlToken: token)
    }
}

struct ContractCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contract", abstract: "Works on contract cases: requests and their documented answers.",
        subcommands: [ContractRunCommand.self])
}

/// Variables from flags and files in Hurl's form, `NAME=VALUE`: `true`, `null`, `42` and `1.5` keep their type unless
/// quoted. A backslash between quotes is literal.
extension ContractVariables {
    init(_ flags: [String], file: String?) throws {
        self.init()
        if let file {
            let bytes = try Files.read(file, "the file of variables")
            // By bytes: as a `Character`, “\r\n” is not “\n”.
            for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                .enumerated()
            {
                let line = String(decoding: line, as: UTF8.self).withoutOuterBlanks
                guard !line.isEmpty, line.utf8.first != UInt8(ascii: "#") else { continue }
                try set(line, from: "\(file):\(index + 1):")
            }
        }
        for flag in flags { try set(flag, from: "--variable") }
    }

    private mutating func set(_ text: String, from source: String) throws {
        let (name, value) = try NamedValue.parse(text, option: source)
        try Misuse.require(
            HurlVariable.isName(name),
            "\(source) \(name) cannot stand between {{ and }}; a name is a letter, then letters, digits, “_” and “-”.")
        self[name] = try Misuse.require(
            Self.typed(value), "\(source) the value of \(name) begins with a quote and does not end with one.")
    }

    /// The value of a text; `nil` if a quote is missing.
    private static func typed(_ text: String) -> JSON? {
        if text.utf8.first == UInt8(ascii: "\"") {
            guard text.utf8.count > 1, text.utf8.last == UInt8(ascii: "\"") else { return nil }
            return .string(String(text.unicodeScalars.dropFirst().dropLast()))
        }
        // Anything that is not JSON is a string, and so are JSON's arrays and objects.
        guard let value = try? JSON.parse(text.utf8), value.array == nil, value.object == nil else {
            return .string(text)
        }
        return value
    }
}
