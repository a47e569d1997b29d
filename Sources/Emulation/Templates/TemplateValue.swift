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
        budget.member(name, of: json).map { TemplateValue($0, budget) }
    }

    var renderText: String { budget.text(of: json) }
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

    var renderText: String { budget.text(of: .array(elements)) }
    var isNull: Bool { false }
}
