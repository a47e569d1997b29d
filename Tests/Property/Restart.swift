import Emulation
import JSON
import Mutations
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

    static func difference(_ old: JSON, _ new: JSON) -> String? {
        if old == new { return nil }
        let (left, right) = (old.prettyText.split(separator: "\n"), new.prettyText.split(separator: "\n"))
        let common = zip(left, right).prefix { $0 == $1 }.count
        let (before, after) = (left.dropFirst(common).prefix(3), right.dropFirst(common).prefix(3))
        return "below \(left.prefix(common).suffix(3).joined(separator: " ")): before \(before.joined(separator: " "))"
            + " after \(after.joined(separator: " "))"
    }
}

/// JSON as careless and hostile clients send it.
enum OddValues {
    private static let numbers = [
        "9223372036854775807", "-9223372036854775808", "9223372036854775808", "9007199254740992", "9007199254740993",
        "4503599627370496", "1099511627775", "1000000000", "2000000000", "0", "-0", "-1", "1", "1e400", "-1e400",
        "1e-400", "1.0", "0.1e1", "253402300799", "253402300799.5", "253402295400", "1e18", "9.3e18",
        "123456789012345678901234567890",
    ]
    private static let texts = [
        "", " ", "\u{0}", "a\u{0}b", "\u{1F600}", "e\u{301}", "\u{E9}", "\u{FEFF}", "\u{2028}", "id", "_x", "__proto__",
        "9999-12-31T22:30:00-02:00", "9999-12-31T23:59:59.999Z", "0000-01-01T00:00:00+23:59", "1970-01-01T00:00:00Z",
        "9223372036854775807", "usr-9223372036854775807", "inv-1", "usr-1", "-1", "null", "{{clock.now}}", "a.b[0]\"'",
        String(repeating: "x", count: 255), String(repeating: "y", count: 256),
        String(repeating: "\u{E9}", count: 3000),
    ]

    static func value(_ random: inout SeededGenerator) -> JSON {
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<4: number(&random)
        case 4..<7: .string(texts.randomElement(using: &random) ?? "")
        case 7: repeated(&random)
        case 8: nested(Int.random(in: 2...62, using: &random))
        case 9: .null
        case 10: .bool(Bool.random(using: &random))
        default: [[:], [], .object([text(&random): number(&random)])]
        }
    }

    static func text(_ random: inout SeededGenerator) -> String { texts.randomElement(using: &random) ?? "" }

    static func number(_ random: inout SeededGenerator) -> JSON {
        (try? JSON.parse(Array((numbers.randomElement(using: &random) ?? "0").utf8))) ?? 0
    }

    private static func repeated(_ random: inout SeededGenerator) -> JSON {
        let name = text(&random)
        return .object(JSONObject([("a", 1), (name, number(&random)), ("b", 2), (name, .string(text(&random)))]))
    }

    private static func nested(_ depth: Int) -> JSON {
        (0..<depth).reduce(JSON.string("deep")) { inner, level in level % 2 == 0 ? [inner] : .object(["n": inner]) }
    }

    static func mutate(_ value: JSON, _ random: inout SeededGenerator) -> JSON {
        switch value {
        case .object(let object) where !object.isEmpty && Int.random(in: 0..<10, using: &random) < 7:
            var members = object.map { ($0.name, $0.value) }
            let index = Int.random(in: 0..<members.count, using: &random)
            members[index].1 = mutate(members[index].1, &random)
            return .object(JSONObject(members))
        case .object(let object): return .object(reshape(object, &random))
        case .array(var elements) where !elements.isEmpty && Int.random(in: 0..<10, using: &random) < 8:
            let index = Int.random(in: 0..<elements.count, using: &random)
            elements[index] = mutate(elements[index], &random)
            return .array(elements)
        case .array(let elements):
            return .array(elements + [elements.randomElement(using: &random) ?? self.value(&random)])
        case .number: return Int.random(in: 0..<4, using: &random) < 3 ? number(&random) : self.value(&random)
        case .null, .bool, .string: return self.value(&random)
        }
    }

    private static func reshape(_ object: JSONObject, _ random: inout SeededGenerator) -> JSONObject {
        var members = object.map { ($0.name, $0.value) }
        let index = members.indices.randomElement(using: &random)
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1:
            if let index { members.append((members[index].0, value(&random))) }
        case 2: members.insert((text(&random), value(&random)), at: 0)
        case 3:
            if let index { members[index].0 = text(&random) }
        default:
            if let index { members.remove(at: index) }
        }
        return JSONObject(members)
    }
}
