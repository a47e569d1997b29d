import ArgumentParser
import Contracts
import Emulation
import Foundation
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

            Without --against an emulator inside this process answers. Where --against names a running emulator, each \
            file gets a sandbox of its own, unless the URL names one (/~NAME). Where it names another server, such as \
            the vendor's, the calls that steer an emulator are left out, and what they would have captured comes from \
            the variables.

            {{base}} in a file is the server's URL. Hurl runs the same files:
            hurl --test --jobs 1 --variable base=http://127.0.0.1:8080 FILES

            Exit codes: 0 every answer is the expected one, 1 one is not, 2 misuse.
            """)

    @Argument(help: "Hurl files, or folders of them (the contract cases of the fixtures).")
    var files: [String] = []

    @Option(help: "The server to ask, such as http://127.0.0.1:8080 (an emulator inside this process).")
    var against: String?

    @Option(name: .customLong("variable"), help: "A variable: NAME=VALUE.")
    var variables: [String] = []

    @Option(help: "A file of variables, NAME=VALUE on each line.")
    var variablesFile: String?

    @Option(help: "A file that receives the results as JUnit XML.")
    var junit: String?

    @Option(help: "The token of the server's control API.")
    var controlToken: String?

    @Option(help: "How long to wait for each answer.")
    var within = "30s"

    @Flag(help: "Write JSON.")
    var json = false

    @OptionGroup var world: WorldOptions

    func run() throws {
        let sources = try world.sources()
        let files = try ContractFiles.read(files, else: try world.store(sources))
        let given = try ContractVariableOptions.variables(variables, file: variablesFile)
        let opponent = try opponent(sources)
        if !json, let note = opponent.note { Output.complaint(note) }
        var results: [ContractResult] = []
        for file in files {
            let report = Waiting.until { await opponent.run(file, given) }
            if !json { show(report) }
            results.append(report.result)
        }
        if let junit { try write(JUnitReport.text(results), to: junit) }
        if json {
            Output.json(.array(results.map(\.json)))
        } else {
            Output.line(ContractResult.summary(of: results))
        }
        guard results.allSatisfy(\.hasPassed) else { throw AnswerIsNo() }
    }

    private func opponent(_ sources: OptionSources) throws -> ContractOpponent {
        guard let against else { return .inProcess(try world.emulator()) }
        guard let limit = Duration(text: within), limit > .zero else {
            throw Misuse("--within \(within) is not a duration such as 500ms or 30s.")
        }
        let trust = try against.hasPrefix("https:") ? LocalAuthority.trust(sources) : .system
        let token = try sources.text("control-token", flag: controlToken)
        return try .server(against, ServerAccess(trust: trust, limit: limit, controlToken: token))
    }

    private func show(_ report: ContractReport) {
        for line in report.result.lines + report.explanations { Output.line(Output.printable(line)) }
    }

    private func write(_ text: String, to path: String) throws {
        do {
            try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw Misuse("the report \(path) cannot be written: \(error.localizedDescription)")
        }
    }
}
