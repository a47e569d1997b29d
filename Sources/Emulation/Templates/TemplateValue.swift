import JSON
import Mustache

/// JSON as Mustache sees it: members and elements by name and number, texts as they are, everything else as JSON text.
struct TemplateValue: MustacheParent, MustacheCustomRenderable, MustacheCustomRepresentation {
    private let json: JSON

    init(_ json: JSON) {
        self.json = json
    }

    func child(named name: String) -> Any? {
        (json[name] ?? Int(name).flatMap { json[$0] }).map(TemplateValue.init)
    }

    var renderText: String { json.string ?? json.text }
    var isNull: Bool { json.isNull }

    /// What sections go by: nothing, a truth, or a list.
    var representation: Any? {
        switch json {
        case .null: nil
        case .bool(let value): value
        case .array(let elements): TemplateList(elements: elements)
        case .number, .string, .object: self
        }
    }
}

/// An array as Mustache sees it.
private struct TemplateList: MustacheSequence, MustacheCustomRenderable {
    let elements: [JSON]

    func makeIterator() -> some IteratorProtocol { elements.lazy.map(TemplateValue.init).makeIterator() }

    var renderText: String { JSON.array(elements).text }
    var isNull: Bool { false }
}
