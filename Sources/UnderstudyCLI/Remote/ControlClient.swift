import ArgumentParser
import Emulation
import HTTPEngine
import HTTPTypes
import JSON

/// How a command makes control calls: in which sandbox, and with which token.
struct ControlClient: ParsableArguments {
    @Option(
        help: "The sandbox of the running server (default: the one in the address, or “default”).",
        completion: .sandboxes)
    var sandbox: String?

    @Option(help: "The token of the server's control API (default: $UNDERSTUDY_CONTROL_TOKEN).")
    var controlToken: String?

    /// Makes a control call; returns its JSON, `null` when there is no content.
    ///
    /// - Throws: ``AnswerIsNo`` when the server does not answer or refuses.
    func call(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSON? = nil, at server: String,
        within limit: Duration = .seconds(10)
    ) throws -> JSON {
        let sources = try OptionSources(configurationFile: nil)
        let url = "\(server.hasSuffix("/") ? String(server.dropLast()) : server)/_understudy/\(path)"
        var fields: HTTPFields = [.contentType: "application/json"]
        if let sandbox, let name = HTTPField.Name("X-Understudy-Sandbox") { fields[name] = sandbox }
        if let token = try sources.text("control-token", flag: controlToken) {
            fields[.authorization] = "Bearer \(token)"
        }
        let trust = try url.hasPrefix("https:") ? LocalAuthority.trust(sources) : .system
        do {
            let answer = try Waiting.until { [fields] () async throws(ClientError) in
                try await HTTPClient.send(
                    method: method, url: url, fields: fields, body: body?.bytes ?? [], trust: trust, within: limit,
                    maximumBody: 64 << 20)
            }
            let value = answer.body.isEmpty ? JSON.null : try JSON.parse(answer.body)
            guard (200..<300).contains(answer.status.code) else {
                throw AnswerIsNo(
                    message: value["error"]?["message"]?.string ?? "\(url) answered \(answer.status.code).")
            }
            return value
        } catch let error as ClientError {
            throw error.ending(of: url)
        } catch is JSONError {
            throw AnswerIsNo(message: "\(url) did not answer with JSON.")
        }
    }
}

/// Whether a command works on tokens at a running server or offline, over the fixtures.
struct TokenPlace: ParsableArguments {
    @Option(help: "The time to use, offline: Unix seconds or RFC 3339 (default: now).")
    var at: String?

    @Option(help: "Ask this running server, such as http://127.0.0.1:8080, instead of the fixtures.")
    var server: String?

    @OptionGroup var client: ControlClient
    @OptionGroup var world: WorldOptions

    /// The answer of the server; `nil` when none is named.
    func answer(_ path: String, _ body: JSONObject) throws -> JSON? {
        guard let server else { return nil }
        guard at == nil else { throw Misuse("--at goes with the fixtures; a server has its sandbox's clock.") }
        return try client.call(.post, path, .object(body), at: server)
    }
}

/// The running server that a command applies to.
struct RunningServer: ParsableArguments {
    @Option(help: "The server (default: the one on this machine, at its written or configured port).")
    var server: String?

    @OptionGroup var client: ControlClient

    /// Makes a control call; see ``ControlClient/call(_:_:_:at:within:)``.
    func call(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSON? = nil, within limit: Duration = .seconds(10)
    ) throws -> JSON {
        let local = { try HealthcheckCommand.localServer(OptionSources(configurationFile: nil)) }
        return try client.call(method, path, body, at: server ?? local(), within: limit)
    }
}

extension ClientError {
    /// The command's error: misuse for an invalid URL, otherwise an answer of no.
    func ending(of url: String) -> any Error {
        if case .invalidURL = self { return Misuse(description) }
        let hint = if case .notReachable = self { " Is it running? Name another one with --server." } else { "" }
        return AnswerIsNo(message: "\(url): \(self)\(hint)")
    }
}
