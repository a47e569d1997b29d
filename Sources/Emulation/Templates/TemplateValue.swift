import JSON
import Mustache

/// JSON as Mustache sees it: members and elements by name and number, texts as they are, everything else as JSON text.
struct TemplateValue: MustacheParent, MustacheCustomRenderable, MustacheCustomRepresentation {
    private let json: JSON
    private let budget: TemplateBudget

    init(_ json: JSON, _ budget: TemplateBudget) {
        self.json = json
        self.budget = budget
    }

    func child(named name: String) -> Any? {
        (json[name] ?? Int(name).flatMap { json[$0] }).map { TemplateValue($0, budget) }
    }

    var renderText: String { budget.affordable(json.string ?? json.text) }
    var isNull: Bool { json.isNull }

    /// What sections go by: nothing, a truth, or a list.
    var representation: Any? {
        switch json {
        case .null: nil
        case .bool(let value): value
        case .array(let elements): TemplateList(elements: elements, budget: budget)
        case .number, .string, .object: self
        }
    }
}

/// An array as Mustache sees it.
private struct TemplateList: MustacheSequence, MustacheCustomRenderable {
    let elements: [JSON]
    let budget: TemplateBudget

    func makeIterator() -> some IteratorProtocol {
        elements.lazy.prefix { _ in budget.canRepeat() }.map { TemplateValue($0, budget) }.makeIterator()
    }

    var renderText: String { budget.affordable(JSON.array(elements).text) }
    var isNull: Bool { false }
}

/// How much one rendering may make (ours): a list inside a list multiplies, and the lists come with the request.
final class TemplateBudget {
    private var repetitions = 10_000
    private var bytes = 4 << 20

    /// Whether a section may stand there once more.
    func canRepeat() -> Bool {
        repetitions -= 1
        return repetitions >= 0
    }

    /// The text, or nothing once there was too much of it.
    func affordable(_ text: String) -> String {
        bytes -= text.utf8.count
        return bytes >= 0 ? text : ""
    }
}
