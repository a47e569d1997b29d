import JSON

/// Fills the Mustache tags of a text with values.
struct TemplateFilling {
    /// The nested values in which names are looked up.
    private typealias Values = [JSON]

    /// The position of an element in a list.
    private struct Place {
        let index: Int
        let isLast: Bool
    }

    let escaping: TextTemplate.Escaping
    let budget: TemplateBudget

    func text(_ parts: [TemplatePart], _ values: JSON) -> String {
        var text = ""
        fill(parts, [values], nil, &text)
        return text
    }

    private func fill(_ parts: [TemplatePart], _ values: Values, _ place: Place?, _ text: inout String) {
        for part in parts {
            switch part {
            case .text(let fixed): text += fixed
            case .value(let name, let isRaw):
                guard let value = find(name, values, place) else { continue }
                let found = value.bool.map(String.init) ?? budget.text(of: value)
                text += isRaw ? found : escaping.escape(found)
            case .section(let name, let inner):
                repeatSection(inner, for: find(name, values, place), values, place, &text)
            case .invertedSection(let name, let inner):
                switch find(name, values, place) {
                case nil, .bool(false)?: fill(inner, values, place, &text)
                case .array([])?: fill(inner, values + [[]], nil, &text)
                default: break
                }
            }
        }
    }

    private func repeatSection(
        _ parts: [TemplatePart], for value: JSON?, _ values: Values, _ place: Place?, _ text: inout String
    ) {
        switch value {
        case nil, .bool(false)?: break
        case .bool(true)?: fill(parts, values, place, &text)
        case .array(let elements)?:
            for (index, element) in elements.enumerated() {
                guard budget.canRepeat() else { return }
                let place = Place(index: index, isLast: index == elements.count - 1)
                fill(parts, values + [element], place, &text)
            }
        case let value?: fill(parts, values + [value], nil, &text)
        }
    }

    /// The value of a name, looked up from the inside out; `nil` for null, too.
    private func find(_ name: TemplateName, _ values: Values, _ place: Place?) -> JSON? {
        guard name.questions.isEmpty else {
            // Values do not answer these: Mustache has no such feature.
            return name.path.isEmpty && !name.isInnermost ? place.flatMap { answer(name.questions, $0) } : nil
        }
        guard let first = name.path.first else { return values.last.flatMap(Self.unlessNull) }
        let around = name.isInnermost ? values.suffix(1) : values[...]
        for value in around.reversed() {
            guard let found = member(first, of: value) else { continue }
            return name.path.dropFirst().reduce(JSON?.some(found)) { value, name in
                value.flatMap { member(name, of: $0) }
            }.flatMap(Self.unlessNull)
        }
        return nil
    }

    /// A list has no members: in a text, a section iterates it.
    private func member(_ name: String, of value: JSON) -> JSON? {
        value.array == nil ? budget.member(name, of: value) : nil
    }

    private static func unlessNull(_ value: JSON) -> JSON? { value.isNull ? .none : value }

    /// The answer from an element's position: `last` whether it is the last one, `plusone(index)` its number from 1.
    private func answer(_ questions: [String], _ place: Place) -> JSON? {
        var number = place.index
        for (position, question) in questions.reversed().enumerated() {
            let isLast = position == questions.count - 1
            switch (question, position) {
            case ("index", 0): continue
            case ("first", 0) where isLast: return .bool(place.index == 0)
            case ("last", 0) where isLast: return .bool(place.isLast)
            case ("equalzero", 1...) where isLast: return .bool(number == 0)
            case ("even", _) where isLast: return .bool(number.isMultiple(of: 2))
            case ("odd", _) where isLast: return .bool(!number.isMultiple(of: 2))
            case ("plusone", 1...): number += 1
            case ("minusone", 1...): number -= 1
            default: return nil
            }
        }
        return JSON(number)
    }
}
