import JSON
import Mutations

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

    /// A value that few programs expect.
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

    /// An object with a repeated name.
    private static func repeated(_ random: inout SeededGenerator) -> JSON {
        let name = text(&random)
        return .object(JSONObject([("a", 1), (name, number(&random)), ("b", 2), (name, .string(text(&random)))]))
    }

    private static func nested(_ depth: Int) -> JSON {
        (0..<depth).reduce(JSON.string("deep")) { inner, level in level % 2 == 0 ? [inner] : .object(["n": inner]) }
    }

    /// Mutates a value in one place.
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

    /// Repeats, adds, renames or removes a member.
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
