import Emulation
import JSON
import Support
import Understudy

/// Compares a sandbox with its exported state on a restarted server.
struct Restart {
    private let before: World
    private let after: World

    /// A restart on another server that has no sandbox with that name yet.
    init(of world: World, on stage: Stage) {
        before = world
        after = world.moved(to: stage)
    }

    /// The first difference; `nil` if there is none.
    func difference(_ steps: [Step]) async throws -> String? {
        try await prepare()
        let exported = StateDocument.entry(of: before)
        let text = StateDocument.of(exported, sandbox: before.name).prettyText
        do {
            let document = try JSON.parse(Array(text.utf8), maximumDepth: Emulator.documentDepth)
            let parts = try after.emulator.restoreState(document, from: "the exported file").setAside
            // Parts set aside earlier for other sandboxes, such as those of a longer sequence, are still reported.
            if let part = parts.first(where: { $0.sandbox == before.name }) {
                return "what was exported cannot be read: \(part)"
            }
        } catch {
            return "what was exported cannot be read: \(error)"
        }
        if let difference = Self.difference(exported, StateDocument.entry(of: after)) {
            return "another export after the import: \(difference)"
        }
        for vendor in before.emulator.vendors.map(\.identity.id) {
            if let difference = try await wholeDifference(vendor) { return difference }
        }
        return try await laterDifference(steps)
    }

    /// The first difference in what happens next: the same reads and changes once more.
    private func laterDifference(_ steps: [Step]) async throws -> String? {
        before.forgetFetchedKeys()
        // Without a seed the two would draw different ids.
        for world in [before, after] { world.sandbox.identifiers.resume(at: 1) }
        for step in steps.filter(\.isRead).suffix(12) + steps.filter(\.isChange).suffix(12) where !makesKeyPair(step) {
            guard let old = try await step.perform(in: before), let new = try await step.perform(in: after) else {
                continue
            }
            // A start accepts sessions of earlier ones by their tokens, including some that those did not know.
            if old.status == 401, new.status != 401 { return nil }
            // Key pairs that were never read are generated anew.
            if old.status == new.status, Self.text(old) == Self.text(new) || old.text.contains("MII") { continue }
            return "\(step)\nanswered \(old.status) \(old.text)\nand after the import \(new.status) \(new.text)"
        }
        return Self.difference(StateDocument.entry(of: before), StateDocument.entry(of: after)).map {
            "another export after the same steps: \($0)"
        }
    }

    /// The file has no clocks and settings: flags set them at the start.
    private func prepare() async throws {
        for call in ["faults", "scenarios"] { try await before.control(.delete, call) }
        _ = before.sandbox.adjustClock { $0.freeze() }
        let (now, settings) = (before.sandbox.now, before.sandbox.settings)
        _ = after.sandbox.adjustSettings { $0 = settings }
        _ = after.sandbox.adjustClock {
            $0.freeze()
            $0.set(to: now)
        }
    }

    /// Compares through the control API: everything, without secrets.
    private func wholeDifference(_ vendor: String) async throws -> String? {
        let states = [
            try await before.control(.get, "state/" + vendor), try await after.control(.get, "state/" + vendor),
        ]
        if let difference = Self.difference(Self.value(states[0].text), Self.value(states[1].text)) {
            return "another state/\(vendor) after the import: \(difference)"
        }
        let answer = try await after.control(.put, "state/" + vendor, states[1].text)
        guard answer.status == 200 else { return "state/\(vendor) cannot be put back: \(answer.text)" }
        return Self.difference(Self.value(states[1].text), Self.value(answer.text)).map {
            "another state/\(vendor) after it was put back: \($0)"
        }
    }

    private static func value(_ text: String) -> JSON {
        (try? JSON.parse(Array(text.utf8), maximumDepth: Emulator.stateDepth)) ?? .string(text)
    }

    /// The text of an answer without signed tokens, which may name the start of the program that made them.
    private static func text(_ answer: ReceivedAnswer) -> String {
        answer.text.replacing(/eyJ[\w-]*\.[\w-]*\.[\w-]*/, with: "TOKEN")
    }

    /// Whether it makes a key pair, which is another one on each server.
    private func makesKeyPair(_ step: Step) -> Bool {
        guard let (vendor, issuer, drill) = step.drill,
            let index = before.emulator.vendors.firstIndex(where: { $0.identity.id == vendor })
        else { return false }
        return before.sandbox.vendor(index).issuers.first { $0.name == issuer }?.mustWait(for: drill) == true
    }

    /// The first lines that differ.
    static func difference(_ old: JSON, _ new: JSON) -> String? {
        if old == new { return nil }
        let (left, right) = (old.prettyText.split(separator: "\n"), new.prettyText.split(separator: "\n"))
        let common = zip(left, right).prefix { $0 == $1 }.count
        let (before, after) = (left.dropFirst(common).prefix(3), right.dropFirst(common).prefix(3))
        return "below \(left.prefix(common).suffix(3).joined(separator: " ")): before \(before.joined(separator: " "))"
            + " after \(after.joined(separator: " "))"
    }
}
