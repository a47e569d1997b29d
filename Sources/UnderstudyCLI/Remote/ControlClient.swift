import ArgumentParser
import Emulation
import HTTPEngine
import HTTPTypes
import JSON
import Tokens
import Understudy
import Wire

/// How a command makes control calls: in which sandbox, and with which token.
struct ControlClient: ParsableArguments {
    @Option(
        help: "The sandbox of the running server (default: the one in the address, or “default”).",
        completion: .sandboxes)
    var sandbox: String?

    @Option(help: "The token of the server's control API or @FILE (default: $UNDERSTUDY_CONTROL_TOKEN).")
    var controlToken: String?

    func validate() { OptionSources.warning(ofControlToken: controlToken).map(Output.complaint) }

    /// Makes a control call; returns its JSON, `null` when there is no content.
    ///
    /// - Throws: ``AnswerIsNo`` when the server does not answer or refuses.
    func call(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSON? = nil, at server: String,
        within limit: Duration = .seconds(10)
    ) throws -> JSON {
        let sources = try OptionSources(configurationFile: nil)
        let url = HTTPClient.controlURL(path, at: server)
        var fields: HTTPFields = [.contentType: "application/json"]
        if let sandbox, let name = HTTPField.Name("X-Understudy-Sandbox") { fields[name] = sandbox }
        if let token = try sources.controlToken(flag: controlToken) { fields[.authorization] = "Bearer \(token)" }
        let answer = try HTTPClient.ask(
            method, url, fields, body?.bytes ?? [], within: limit, maximumBody: 64 << 20, sources)
        do {
            let value = answer.body.isEmpty ? JSON.null : try JSON.parse(answer.body)
            if (200..<300).contains(answer.status.code) { return value }
            throw AnswerIsNo(message: value["error"]?["message"]?.string ?? "\(url) answered \(answer.status.code).")
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
    @OptionGroup var fixtureOptions: FixtureOptions

    func answer(_ path: String, _ body: JSONObject) throws -> JSON? {
        guard let server else {
            if client.sandbox != nil { throw Misuse("--sandbox goes with --server; the fixtures have no sandboxes.") }
            return nil
        }
        guard at == nil else { throw Misuse("--at goes with the fixtures; a server has its sandbox's clock.") }
        return try client.call(.post, path, .object(body), at: server)
    }
}

struct RunningServer: ParsableArguments {
    @Option(
        help: "The server (default: $UNDERSTUDY_URL, or the one on this machine, at its written or configured port).")
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

extension HTTPClient {
    static func controlURL(_ path: String, at server: String) -> String {
        "\(server.hasSuffix("/") ? String(server.dropLast()) : server)/_understudy/\(path)"
    }

    /// Makes a request and waits; over HTTPS it trusts the local CA as well.
    static func ask(
        _ method: HTTPRequest.Method, _ url: String, _ fields: HTTPFields = [:], _ body: [UInt8] = [],
        within limit: Duration, maximumBody: Int = 1 << 20, _ sources: OptionSources
    ) throws -> ClientResponse {
        let trust = try LocalAuthority.trust(at: url, sources)
        do {
            return try Waiting.until { () async throws(ClientError) in
                try await send(
                    method: method, url: url, fields: fields, body: body, trust: trust, within: limit,
                    maximumBody: maximumBody)
            }
        } catch {
            throw error.ending(of: url)
        }
    }
}

extension ClientError {
    /// The command's error: misuse for an invalid URL, otherwise an answer of no.
    func ending(of url: String, namedBy option: String = "--server") -> any Error {
        if case .invalidURL = self { return Misuse(description) }
        let hint = if case .notReachable = self { " Is it running? Name another one with \(option)." } else { "" }
        return AnswerIsNo(message: "\(url): \(self)\(hint)")
    }
}

struct HealthcheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "healthcheck", abstract: "Asks a running server whether it is healthy; for containers.",
        discussion: """
            Example: understudy healthcheck --server http://127.0.0.1:8080

            Without --server it asks that of UNDERSTUDY_URL, or the server on this machine. Its address is read from the file of UNDERSTUDY_PORT_FILE,
            otherwise from the environment or ./understudy.yaml. Over HTTPS it trusts the system's CAs and the local CA.

            Exit codes: 0 healthy, 1 not healthy or no answer, 2 misuse.
            """)

    @Option(
        help: "The server (default: $UNDERSTUDY_URL, or the one on this machine, at its written or configured port).")
    var server: String?

    @Option(help: "How long to wait for the answer.")
    var within = "3s"

    func run() throws {
        let limit = try Duration.patience(within)
        let sources = try OptionSources(configurationFile: nil)
        let base = try server ?? Self.localServer(sources)
        let url = HTTPClient.controlURL("health", at: base)
        let answer = try HTTPClient.ask(.get, url, within: limit, sources)
        guard answer.status == .ok else { throw AnswerIsNo(message: "\(url) answered \(answer.status.code).") }
        Output.line(String(decoding: answer.body, as: UTF8.self))
    }

    /// The server of `UNDERSTUDY_URL`, or this machine's: its port file if present, otherwise the configured address.
    static func localServer(_ sources: OptionSources) throws -> String {
        if let named = sources.serverURL { return named }
        func url(_ scheme: some StringProtocol, _ host: String, _ port: some StringProtocol) -> String {
            "\(scheme)://\(host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host):\(port)"
        }
        // A server that has not started yet has written nothing, and one without the option never does.
        if let path = try sources.text("port-file", flag: nil),
            let text = try? Files.content(of: path),
            let words = line(in: String(decoding: text, as: UTF8.self))?.split(separator: " "), words.count > 1
        {
            let host = words.count > 2 ? String(words[2]) : "127.0.0.1"
            return url(words[0] == "control" ? "http" : words[0], host, words[1])
        }
        let host = try sources.text("host", flag: nil) ?? "127.0.0.1"
        let port = try sources.text("control-port", flag: nil) ?? sources.text("port", flag: nil) ?? "8080"
        return url("http", BoundAddress.local(host) ?? host, port)
    }

    /// The port file's line for control calls: the one marked as such, else the first.
    private static func line(in text: String) -> Substring? {
        let lines = text.split(separator: "\n")
        return lines.first { $0.hasPrefix("control ") } ?? lines.first
    }
}

/// Shell completions for a value: names from the running server, or without one from the fixtures.
extension CompletionKind {
    static var vendors: CompletionKind { .names("id", in: "health") }
    static var routes: CompletionKind { .names("route", in: "vendors") }
    static var scenarios: CompletionKind { .names("scenario", in: "scenarios") }
    static var tokenKinds: CompletionKind { .names("kind", in: "tokens") }
    static var defects: CompletionKind { .list(Defect.names) }
    static var profileNames: CompletionKind { .custom { _, _, _ in BehaviourProfile.names } }
    static var profiles: CompletionKind {
        .fromServer("health") { BehaviourProfile.names + $0.texts("id").map { "\($0)=" } }
    }

    /// `VENDOR.NAME=VALUE`; without a value if any is accepted.
    static var switches: CompletionKind {
        .fromServer("vendors") { answer in
            answer.elements("vendors").flatMap { vendor in
                vendor.elements("switches").flatMap { each in
                    let name = "\(vendor.text("id")).\(each.text("name"))="
                    return each["choices"]?.array?.compactMap { $0.string.map { name + $0 } } ?? [name]
                }
            }
        }
    }

    /// Only a running server has sandboxes.
    static var sandboxes: CompletionKind { .custom { words, _, _ in ask("sandboxes", words)?.texts("name") ?? [] } }

    private static func names(_ member: String, in path: String) -> CompletionKind {
        fromServer(path) { $0.texts(member) }
    }

    private static func fromServer(_ path: String, _ values: @escaping @Sendable (JSON) -> [String]) -> CompletionKind {
        .custom { words, _, _ in (ask(path, words) ?? askFixtures(path, words)).map(values) ?? [] }
    }

    /// The answer of the server that the words name, else of this machine's; `nil` when none answers.
    private static func ask(_ path: String, _ words: [String]) -> JSON? {
        let named = ["server", "control-token"].flatMap { name in
            words.values(of: name).first.map { ["--\(name)", $0] } ?? []
        }
        // Completion must be quick, though on a busy machine an answer takes a while, and cannot show a message.
        return try? RunningServer.parse(named).call(.get, path, within: .seconds(3))
    }

    private static func askFixtures(_ path: String, _ words: [String]) -> JSON? {
        let sources = try? OptionSources(configurationFile: nil)
        let folder = try? sources?.text("fixtures", flag: words.values(of: "fixtures").first)
        // Unreadable fixtures give no completions.
        guard let store = try? FixtureStore.layered(folder: folder), let emulator = try? Emulator(fixtures: store)
        else { return nil }
        let request = Request(method: .get, target: "/_understudy/\(path)", authority: "127.0.0.1")
        let response = Waiting.until { await Pipeline(emulator).response(to: request) }
        return try? JSON.parse(response.body)
    }
}

extension [String] {
    /// The values of an option among words: `--name value` or `--name=value`.
    func values(of option: String) -> [String] {
        enumerated().compactMap { index, word in
            if word.hasPrefix("--\(option)=") { return String(word.dropFirst(option.count + 3)) }
            return word == "--\(option)" && index + 1 < count ? self[index + 1] : nil
        }
    }
}

extension JSON {
    /// The elements of a member; empty if it is no array.
    func elements(_ name: String) -> [JSON] { self[name]?.array ?? [] }

    /// The text of a member; empty if it is none.
    func text(_ name: String) -> String { self[name]?.string ?? "" }

    /// The distinct texts of all members with that name at any depth, in order.
    fileprivate func texts(_ name: String) -> [String] {
        var found: [String] = []
        var seen: Set<String> = []
        func look(_ value: JSON) {
            for each in value.object ?? [:] {
                if each.name == name, let text = each.value.string, seen.insert(text).inserted { found.append(text) }
                look(each.value)
            }
            for each in value.array ?? [] { look(each) }
        }
        look(self)
        return found
    }
}
