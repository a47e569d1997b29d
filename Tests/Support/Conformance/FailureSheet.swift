import Emulation
import JSON
import Synchronization

/// A vendor's `failures.yaml`, read independently of the product's template reader.
package struct FailureSheet: Sendable {
    /// An answer as seen on the wire.
    struct Answer: Sendable {
        let status: Int
        let fields: [(name: String, value: String)]
        let text: String
        let isJSON: Bool
    }

    private let failures: JSONObject
    private let envelopes: [JSON]

    private static let sheets = Mutex<[String: FailureSheet]>([:])

    /// The vendor's sheet in a folder of fixtures, read once: hundreds of cases ask for it.
    package static func read(_ vendor: String, in fixtures: String) throws -> FailureSheet {
        let place = "\(fixtures)/\(vendor)"
        if let known = sheets.withLock({ $0[place] }) { return known }
        let sheet = try FailureSheet(vendor, in: fixtures)
        sheets.withLock { $0[place] = sheet }
        return sheet
    }

    private init(_ vendor: String, in fixtures: String) throws {
        let document = try FixtureStore(layers: [fixtures]).document(vendor + "/failures.yaml").json()
        failures = document["failures"]?.object ?? [:]
        envelopes = document["envelopes"]?.array ?? []
    }

    /// Every set of switches that a variant or an envelope requires, and the empty set.
    var situations: [[String: String]] {
        let conditions = (failures.flatMap { $0.value["variants"]?.array ?? [] } + envelopes).map { variant in
            let members = (variant["when"]?.object ?? [:]).filter { $0.name != "route" }
            return Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value.string ?? "") })
        }
        return [[:]] + Set(conditions).subtracting([[:]]).sorted { "\($0)" < "\($1)" }
    }

    /// The routes where it has an answer of its own.
    func routes(namedBy failure: String) -> Set<String> {
        let variants = failures[failure]?["variants"]?.array ?? []
        return Set(variants.flatMap { $0["when"]?["route"]?.array ?? [] }.compactMap(\.string))
    }

    /// The answer to a failure with standard parameters on a route.
    func answer(_ failure: String, route: String, switches: [String: String]) -> Answer {
        let entry = failures[failure] ?? [:]
        let values = entry["parameters"]?.object ?? [:]
        func holds(_ variant: JSON) -> Bool {
            (variant["when"]?.object ?? [:]).allSatisfy { member in
                member.name == "route"
                    ? member.value.array?.contains(.string(route)) == true
                    : switches[member.name] == member.value.string
            }
        }
        let variant = entry["variants"]?.array?.first(where: holds) ?? entry
        let fields = ((variant["headers"] ?? entry["headers"])?.object ?? [:]).map {
            (name: $0.name, value: Self.text($0.value, values))
        }
        let status = variant["status"]?.int ?? entry["status"]?.int ?? 0
        guard let body = variant["body"] else {
            let text = variant["text"].map { Self.text($0, values) } ?? ""
            return Answer(status: status, fields: fields, text: text, isJSON: false)
        }
        let content = envelopes.filter(holds).reduce(Self.filled(body, values)) { content, envelope in
            Self.filled(envelope["body"] ?? nil, ["body": content])
        }
        return Answer(status: status, fields: fields, text: content.text, isJSON: true)
    }

    /// Whether its content depends on the request.
    func hasParameters(_ failure: String) -> Bool { failures[failure]?["parameters"] != nil }

    /// Every possible status of a failure, for any route and switches.
    package func statuses(of failure: String) -> Set<Int> {
        let entry = failures[failure] ?? [:]
        return Set(([entry] + (entry["variants"]?.array ?? [])).compactMap { $0["status"]?.int })
    }

    /// The member names of every possible content of a failure.
    func shapes(of failure: String) -> Set<[String]> {
        let entry = failures[failure] ?? [:]
        return Set(([entry] + (entry["variants"]?.array ?? [])).map { $0["body"]?.object?.map(\.name) ?? [] })
    }

    private static func filled(_ template: JSON, _ values: JSONObject) -> JSON {
        switch template {
        case .string(let text):
            let name = text.hasPrefix("{{") && text.hasSuffix("}}") ? String(text.dropFirst(2).dropLast(2)) : ""
            return values[name] ?? .string(Self.text(template, values))
        case .array(let elements): return .array(elements.map { filled($0, values) })
        case .object(let object):
            return .object(
                JSONObject(object.map { (Self.text(.string($0.name), values), filled($0.value, values)) }))
        case .null, .bool, .number: return template
        }
    }

    private static func text(_ template: JSON, _ values: JSONObject) -> String {
        values.reduce(template.string ?? template.text) { text, value in
            text.replacing("{{\(value.name)}}", with: value.value.string ?? value.value.text)
        }
    }
}
