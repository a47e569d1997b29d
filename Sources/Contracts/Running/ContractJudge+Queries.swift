import JSON

extension ContractJudge {
    func value(of query: HurlQuery) throws(ContractFailure) -> ContractValue? {
        var value = try value(of: query.subject, at: query.place)
        for filter in query.filters {
            guard let input = value else {
                throw ContractFailure(
                    place: query.place, message: "nothing was found for the filter \(filter.word) to work on")
            }
            value = try apply(filter, to: input, at: query.place)
        }
        return value
    }

    private func value(of subject: HurlQuery.Subject, at place: HurlPlace) throws(ContractFailure) -> ContractValue? {
        switch subject {
        case .status: return .json(JSON(answer.status))
        case .body: return .json(.string(answer.text))
        case .bytes: return .bytes(answer.body)
        case .header(let name):
            let values = answer.values(of: try variables.text(name)).map(JSON.string)
            return values.count > 1 ? .json(.array(values)) : values.first.map(ContractValue.json)
        case .variable(let name): return variables[try variables.text(name)].map(ContractValue.json)
        case .regex(let pattern): return try group(of: pattern, in: answer.text, at: place)
        case .jsonPath(let path): return try find(path, in: answer.body, at: place)
        }
    }

    /// The value for a singular path, otherwise the list of all values found.
    private func find(
        _ path: HurlTemplate, in content: [UInt8], at place: HurlPlace
    ) throws(ContractFailure) -> ContractValue? {
        let query: JSONPath
        let value: JSON
        let text = try variables.text(path)
        do { query = try JSONPath(text) } catch {
            throw ContractFailure(place: path.place, message: "\(error)")
        }
        do { value = try JSON.parse(content) } catch {
            throw ContractFailure(place: place, message: "the content is not JSON: \(error)")
        }
        let values = query.values(in: value)
        return query.isSingular ? values.first.map(ContractValue.json) : .json(.array(values))
    }

    private func apply(
        _ filter: HurlFilter, to value: ContractValue, at place: HurlPlace
    ) throws(ContractFailure) -> ContractValue? {
        switch filter {
        case .count:
            if case .bytes(let bytes) = value { return .json(JSON(bytes.count)) }
            return .json(JSON(try elements(value, filter, place).count))
        case .first: return try elements(value, filter, place).first.map(ContractValue.json)
        case .last: return try elements(value, filter, place).last.map(ContractValue.json)
        case .nth(let index):
            let elements = try elements(value, filter, place)
            return elements.indices.contains(index) ? .json(elements[index]) : nil
        case .regex(let pattern): return try group(of: pattern, in: try text(value, filter, place), at: place)
        case .replace(let old, let new):
            let (old, new) = (try variables.text(old), try variables.text(new))
            // By scalars here and below: “\r\n” is one `Character`, so “\n” would not be found in it.
            let text = try text(value, filter, place).unicodeScalars
                .replacing(old.unicodeScalars, with: new.unicodeScalars)
            return .json(.string(String(text)))
        case .split(let separator):
            let pieces = try text(value, filter, place).unicodeScalars.split(
                separator: try variables.text(separator).unicodeScalars, omittingEmptySubsequences: false)
            return .json(.array(pieces.map { .string(String($0)) }))
        case .jsonPath(let path): return try find(path, in: Array(try text(value, filter, place).utf8), at: place)
        case .toInt:
            guard let int = Int(try number(value, filter, place)) else { throw wrong(value, filter, place) }
            return .json(JSON(int))
        case .toFloat:
            guard let float = Double(try number(value, filter, place)) else { throw wrong(value, filter, place) }
            return .json(.number(JSONNumber(float)))
        }
    }

    private func elements(
        _ value: ContractValue, _ filter: HurlFilter, _ place: HurlPlace
    ) throws(ContractFailure) -> [JSON] {
        switch value {
        case .json(.array(let elements)): return elements
        case .json(.object(let object)) where filter == .count: return object.map(\.value)
        default: throw wrong(value, filter, place)
        }
    }

    private func text(
        _ value: ContractValue, _ filter: HurlFilter, _ place: HurlPlace
    ) throws(ContractFailure) -> String {
        guard let text = value.string else { throw wrong(value, filter, place) }
        return text
    }

    private func number(
        _ value: ContractValue, _ filter: HurlFilter, _ place: HurlPlace
    ) throws(ContractFailure) -> String {
        if case .json(.number(let number)) = value { return number.literal }
        return try text(value, filter, place)
    }

    private func wrong(_ value: ContractValue, _ filter: HurlFilter, _ place: HurlPlace) -> ContractFailure {
        ContractFailure(place: place, message: "the filter \(filter.word) cannot work on \(value.kind), \(value.shown)")
    }

    /// The first group of the pattern's first match.
    private func group(
        of pattern: HurlPattern, in text: String, at place: HurlPlace
    ) throws(ContractFailure) -> ContractValue? {
        guard let match = text.firstMatch(of: try regex(pattern, at: place)) else { return nil }
        guard match.output.count > 1 else {
            throw ContractFailure(
                place: place, message: "the regular expression has no group whose text could be taken")
        }
        return match.output[1].substring.map { .json(.string(String($0))) }
    }

    func regex(_ pattern: HurlPattern, at place: HurlPlace) throws(ContractFailure) -> Regex<AnyRegexOutput> {
        let text =
            switch pattern {
            case .literal(let text): text
            case .text(let template): try variables.text(template)
            }
        do { return try Regex(text).matchingSemantics(.unicodeScalar) } catch {
            throw ContractFailure(place: place, message: "“\(text)” is not a supported regular expression")
        }
    }
}

enum ContractValue: Sendable, Hashable {
    case json(JSON)
    case bytes([UInt8])

    var shown: String {
        switch self {
        case .json(.null): "null"
        case .json(.string(let text)): "“\(text)”"
        case .json(let value): value.text
        case .bytes(let bytes): "\(bytes.count) bytes"
        }
    }

    var kind: String {
        switch self {
        case .json(let value): value.isNull ? "null" : "a JSON \(value.typeName)"
        case .bytes: "bytes"
        }
    }

    var string: String? {
        if case .json(.string(let text)) = self { text } else { nil }
    }

    /// Whether both are equal: numbers by value, everything else as written.
    func equals(_ other: ContractValue) -> Bool {
        switch (self, other) {
        case (.json(let own), .json(let other)): own.isEquivalent(to: other)
        case (.bytes(let own), .bytes(let other)): own == other
        case (.json, .bytes), (.bytes, .json): false
        }
    }
}
