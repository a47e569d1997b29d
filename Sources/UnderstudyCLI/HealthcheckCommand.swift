import ArgumentParser
import Emulation
import HTTPEngine
import Understudy

/// `understudy healthcheck`
struct HealthcheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "healthcheck", abstract: "Asks a running server whether it is well; for containers.",
        discussion: """
            Example: understudy healthcheck --server http://127.0.0.1:8080

            Over https it trusts what the system does, and the local CA.

            Exit codes: 0 it is, 1 it is not or does not answer.
            """)

    @Option(help: "The server (http://127.0.0.1 and UNDERSTUDY_PORT, or 8080).")
    var server: String?

    @Option(help: "How long to wait for the answer.")
    var within = "3s"

    func run() throws {
        guard let limit = Duration(text: within), limit > .zero else {
            throw Misuse("--within \(within) is not a duration such as 500ms or 3s.")
        }
        let sources = try OptionSources(configurationFile: nil)
        let port = try sources.text("port", flag: nil) ?? "8080"
        let base = server ?? "http://127.0.0.1:\(port)"
        let url = (base.hasSuffix("/") ? String(base.dropLast()) : base) + "/_understudy/health"
        let trust = try url.hasPrefix("https:") ? LocalAuthority.trust(sources) : .system
        do {
            let answer = try Waiting.until { () async throws(ClientError) in
                try await HTTPClient.send(url: url, trust: trust, within: limit)
            }
            guard answer.status == .ok else { throw AnswerIsNo(message: "\(url) answered \(answer.status.code).") }
            Output.line(String(decoding: answer.body, as: UTF8.self))
        } catch let error as ClientError {
            throw error.ending(of: url)
        }
    }
}
