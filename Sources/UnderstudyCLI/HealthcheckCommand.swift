import ArgumentParser
import Emulation
import HTTPEngine
import Understudy

/// `understudy healthcheck`
struct HealthcheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "healthcheck", abstract: "Asks a running server whether it is healthy; for containers.",
        discussion: """
            Example: understudy healthcheck --server http://127.0.0.1:8080

            Without --server it asks the server on this machine. Its port is read from the file of UNDERSTUDY_PORT_FILE,
            otherwise from the environment or ./understudy.yaml. Over HTTPS it trusts the system's CAs and the local CA.

            Exit codes: 0 healthy, 1 not healthy or no answer, 2 misuse.
            """)

    @Option(help: "The server (default: the one on this machine, at its written or configured port).")
    var server: String?

    @Option(help: "How long to wait for the answer.")
    var within = "3s"

    func run() throws {
        let limit = try Duration.patience(within)
        let sources = try OptionSources(configurationFile: nil)
        let base = try server ?? Self.localServer(sources)
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

    /// This machine's server: its port file if present, otherwise the configured address.
    static func localServer(_ sources: OptionSources) throws -> String {
        let host =
            try sources.text("host", flag: nil).flatMap { ["0.0.0.0", "::"].contains($0) ? nil : $0 } ?? "127.0.0.1"
        let address = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        // A server that has not started yet has written nothing, and one without the option never does.
        if let path = try sources.text("port-file", flag: nil),
            let text = try? Files.content(of: path),
            let words = line(in: String(decoding: text, as: UTF8.self))?.split(separator: " "), words.count == 2
        {
            return "\(words[0] == "control" ? "http" : words[0])://\(address):\(words[1])"
        }
        let port = try sources.text("control-port", flag: nil) ?? sources.text("port", flag: nil) ?? "8080"
        return "http://\(address):\(port)"
    }

    /// The port file's line for control calls: the one marked as such, else the first.
    private static func line(in text: String) -> Substring? {
        let lines = text.split(separator: "\n")
        return lines.first { $0.hasPrefix("control ") } ?? lines.first
    }
}
