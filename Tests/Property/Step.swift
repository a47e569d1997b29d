import Emulation
import HTTPTypes
import JSON
import Support
import Understudy

/// One step in a sandbox, complete, so that it can be repeated.
enum Step: Sendable {
    /// A vendor or control call; the sandbox is selected by header.
    case call(HTTPRequest.Method, String, World.Fields, String)
    /// Imports a state file as at a start; its one sandbox is the current one.
    case importing(JSON)

    /// Performs the step.
    ///
    /// - Returns: the answer; `nil` if there is none.
    @discardableResult
    func perform(in world: World) async throws -> ReceivedAnswer? {
        switch self {
        case .call(let method, let target, let fields, let body):
            return try await world.bare(method, target, fields + [("X-Understudy-Sandbox", world.name)], body)
        case .importing(let state):
            let document = StateDocument.of(state, sandbox: world.name)
            // A rejected import has changed nothing.
            _ = try? world.emulator.importState(FixtureNode(document, from: "a mutated file"))
            return nil
        }
    }

    /// Whether it only reads.
    var isRead: Bool {
        if case .call(.get, let target, _, _) = self { !target.contains("/_understudy/") } else { false }
    }

    /// Whether it changes nothing but a vendor's state: a vendor's call, an action or a drill.
    var isChange: Bool {
        guard case .call(let method, let target, _, _) = self, method != .get else { return false }
        return !target.contains("/_understudy/") || target.contains("/_understudy/state/")
            || target.contains("/_understudy/keys/")
    }

    /// The drill that it performs, if any, and at whose issuer.
    var drill: (vendor: String, issuer: String, drill: KeyDrill)? {
        guard case .call(.post, let target, _, _) = self else { return nil }
        let parts = target.split(separator: "/").map(String.init)
        guard parts.count == 5, parts.starts(with: ["_understudy", "keys"]) else { return nil }
        return KeyDrill(rawValue: parts[4]).map { (parts[2], parts[3], $0) }
    }
}

extension Step: CustomStringConvertible {
    /// In a form that a person can repeat.
    var description: String {
        switch self {
        case .call(let method, let target, let fields, let body):
            let lines = fields.map { " -H '\($0.0): \($0.1)'" }.joined()
            return "\(method.rawValue) \(target)\(lines)\(body.isEmpty ? "" : " -d '\(body)'")"
        case .importing(let state): return "import \(state.text)"
        }
    }
}

/// State files with one sandbox.
enum StateDocument {
    /// A document that contains only that sandbox with that state.
    static func of(_ entry: JSON, sandbox: String) -> JSON {
        var entry = entry.object ?? [:]
        entry["name"] = .string(sandbox)
        return ["understudy_state": 1, "sandboxes": .array(entry.count > 1 ? [.object(entry)] : [])]
    }

    /// What the file would contain for a sandbox, without its name; empty if nothing happened.
    static func entry(of world: World) -> JSON {
        let entries = world.emulator.exportState()["sandboxes"]?.array ?? []
        var entry = entries.first { $0["name"]?.string == world.name }?.object ?? [:]
        entry["name"] = nil
        return .object(entry)
    }
}
