import ArgumentParser
import Emulation
import HTTPEngine
import HTTPTypes
import JSON

/// The running server that a command asks, and the sandbox of it.
struct RunningServer: ParsableArguments {
    @Option(help: "The server (this machine's, at the port that it has written down or was given).")
    var server: String?

    @Option(
        help: "The sandbox (the one that the address names, else default).", completion: .remote("sandboxes", "name"))
    var sandbox: String?

    @Option(help: "The token of the server's control API (UNDERSTUDY_CONTROL_TOKEN).")
    var controlToken: String?

    /// Makes a control call; gives its JSON, `null` where there is no content.
    ///
    /// - Throws: ``AnswerIsNo`` when the server does not answer or refuses.
    func call(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSON? = nil, within limit: Duration = .seconds(10)
    ) throws -> JSON {
        let sources = try OptionSources(configurationFile: nil)
        let base = try server ?? HealthcheckCommand.localServer(sources)
        let url = "\(base.hasSuffix("/") ? String(base.dropLast()) : base)/_understudy/\(path)"
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
            throw AnswerIsNo(message: "\(url) answered something else than JSON.")
        }
    }
}

extension CompletionKind {
    /// The names that a control call of the server of this machine lists; none when there is no such server.
    static func remote(_ path: String, _ member: String) -> CompletionKind {
        .custom { _, _, _ in
            guard let server = try? RunningServer.parse([]),
                let answer = try? server.call(.get, path, within: .seconds(1))
            else { return [] }
            return names(member, in: answer)
        }
    }

    /// The texts of all members of that name, in order and once.
    private static func names(_ member: String, in value: JSON) -> [String] {
        var found: [String] = []
        for each in value.object ?? [:] {
            if each.name == member, let text = each.value.string { found.append(text) }
            found += names(member, in: each.value)
        }
        for each in value.array ?? [] { found += names(member, in: each) }
        return found.enumerated().filter { !found[..<$0.offset].contains($0.element) }.map(\.element)
    }
}
