import ArgumentParser
import Emulation
import JSON
import Tokens
import Understudy
import Wire

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
            (answer["vendors"]?.array ?? []).flatMap { vendor in
                (vendor["switches"]?.array ?? []).flatMap { each in
                    let name = "\(vendor["id"]?.string ?? "").\(each["name"]?.string ?? "")="
                    return each["choices"]?.array?.compactMap { $0.string.map { name + $0 } } ?? [name]
                }
            }
        }
    }

    /// Only a running server has sandboxes.
    static var sandboxes: CompletionKind {
        .custom { words, _, _ in ask("sandboxes", words)?.texts("name") ?? [] }
    }

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
