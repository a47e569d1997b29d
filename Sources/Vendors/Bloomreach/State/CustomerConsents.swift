import Emulation
import JSON

struct CustomerConsents: CodedRecord, Hashable {
    /// By category; `false` if never set.
    var categories: [String: Bool] = [:]

    mutating func code(_ coder: inout RecordCoder) {
        coder.member(
            "consents", &categories, or: nil,
            write: { .object(JSONObject($0.sorted { $0.key < $1.key }.map { ($0.key, .bool($0.value)) })) }
        ) { (node) throws(FixtureProblem) in
            var categories: [String: Bool] = [:]
            for (category, value) in try node.members() { categories[category] = try value.bool() }
            return categories
        }
    }
}
