import ArgumentParser
import Contracts
import Emulation
import JSON

/// `understudy contract run`
struct ContractRunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Sends the requests of Hurl files and compares the answers.",
        discussion: """
            Example: understudy contract run
            Example: understudy contract run FILES --against http://127.0.0.1:8080
            Example: understudy contract run FILES --against https://vendor.example \\
              --variables-file credentials.env

            Without --against, an emulator inside this process answers. If --against names a running emulator, each \
            file gets its own sandbox, unless the URL names one (/~NAME). If it names another server, such as the \
            vendor's, control calls are skipped, and variables supply what they would have captured.

            {{base}} in a file is the server's URL. Hurl runs the same files:
            hurl --test --jobs 1 --variable base=http://127.0.0.1:8080 FILES

            Exit codes: 0 all answers are as expected, 1 one is not, or no case was run, 2 misuse.
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

    @Option(help: "The token of the server's control API.")
    var controlToken: String?

    @Option(help: "How long to wait for each answer of the server (default: 30s).")
    var within: String?

    @Flag(help: "Write JSON.")
    var json = false

    @OptionGroup var world: WorldOptions

    func run() throws {
        let sources = try world.sources()
        let files = try ContractFiles.read(files, else: try world.store(sources))
        let given = try ContractVariableOptions.variables(variables, file: variablesFile)
        guard given["base"] == nil else {
            throw Misuse(
                "the variable base is the URL that is asked; leave it out, and name the server with --against.")
        }
        let contractTarget = try contractTarget(sources)
        if let junit { try ReportFile.check(junit) }
        if !json, let note = contractTarget.note { Output.complaint(note) }
        var results: [ContractResult] = []
        for file in files {
            let result = Waiting.until { await contractTarget.run(file, given) }
            if !json { for line in result.lines { Output.line(Output.printable(line)) } }
            results.append(result)
        }
        if let junit { try ReportFile.write(JUnitReport.text(results), to: junit) }
        if json {
            Output.json(.array(results.map(\.json)))
        } else {
            Output.line(ContractResult.summary(of: results))
        }
        guard results.allSatisfy(\.hasPassed) else { throw AnswerIsNo() }
        guard results.contains(where: \.hasRun) else { throw AnswerIsNo(message: "no case was run.") }
    }

    private func contractTarget(_ sources: OptionSources) throws -> ContractTarget {
        guard let against else {
            guard within == nil, controlToken == nil else {
                throw Misuse(
                    "--within and --control-token are for a server; name one with --against, or leave them out.")
            }
            return .inProcess(try world.emulator())
        }
        let limit = try Duration.patience(within ?? "30s")
        let trust = try against.hasPrefix("https:") ? LocalAuthority.trust(sources) : .system
        let token = try sources.text("control-token", flag: controlToken)
        return try .server(against, ServerAccess(trust: trust, limit: limit), controlToken: token)
    }
}
