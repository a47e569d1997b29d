import ArgumentParser
import Emulation
import HTTPEngine
import HTTPTypes
import JSON

/// A running server for a command to ask instead of working offline.
struct ServerOptions: ParsableArguments {
    @Option(help: "Ask this running server, such as http://127.0.0.1:8080, instead of the fixtures.")
    var server: String?

    @Option(help: "The sandbox of the running server (the one that the address names, else default).")
    var sandbox: String?

    @Option(help: "The token of the server's control API.")
    var controlToken: String?

    /// Makes a control call.
    ///
    /// - Throws: ``AnswerIsNo`` when the server does not answer or refuses.
    func post(_ path: String, _ body: JSON, to server: String) throws -> JSON {
        var fields: HTTPFields = [.contentType: "application/json"]
        if let sandbox, let name = HTTPField.Name("X-Understudy-Sandbox") { fields[name] = sandbox }
        if let controlToken { fields[.authorization] = "Bearer \(controlToken)" }
        let url = "\(server.hasSuffix("/") ? String(server.dropLast()) : server)/_understudy/\(path)"
        let trust = try url.hasPrefix("https:") ? LocalAuthority.trust(OptionSources(configurationFile: nil)) : .system
        do {
            let answer = try Waiting.until { [fields] () async throws(ClientError) in
                try await HTTPClient.send(
                    method: .post, url: url, fields: fields, body: body.bytes, trust: trust, within: .seconds(10))
            }
            let value = try JSON.parse(answer.body)
            guard answer.status == .ok else {
                throw AnswerIsNo(
                    message: value["error"]?["message"]?.string ?? "\(url) answered \(answer.status.code).")
            }
            return value
        } catch let error as ClientError {
            throw error.ending(of: url)
        } catch is JSONError {
            throw AnswerIsNo(message: "\(url) answered something else than JSON.")
        }
    }
}

extension ClientError {
    /// The command's error: misuse for an invalid URL, otherwise an answer of no.
    func ending(of url: String) -> any Error {
        if case .invalidURL = self { return Misuse(description) }
        return AnswerIsNo(message: "\(url): \(self)")
    }
}
