public import JSON

/// Reads the fields of a request, and records their problems in reading order.
///
/// Reading does not throw: a wrong required field reads as an empty value, which ``Fields/read(_:)`` never returns.
public struct FieldReader {
    /// The name for the elements of content that is a list.
    public static let elements = ""

    private let object: JSONObject
    public private(set) var problems: [FieldProblem] = []
    @usableFromInline let policy: FieldPolicy
    let isQuery: Bool
    /// The path of the object; its index in a list is added only when a problem needs it.
    private let base: String
    private let index: Int?
    /// The positions of the members that were asked for; those beyond the sixty-fourth are never among them.
    private var asked: UInt64 = 0
    /// Whether a nested object has a member that was not asked for.
    private var hasGap = false
    private var takesAll = false
    /// What is asked for; `nil` unless it is recorded.
    private(set) var schema: FieldSchema?

    @usableFromInline init(
        _ object: JSONObject, _ policy: FieldPolicy, isQuery: Bool = false, at base: String = "", index: Int? = nil,
        recordsNames: Bool = false
    ) {
        (self.object, self.policy, self.isQuery, self.base, self.index) = (object, policy, isQuery, base, index)
        if recordsNames { schema = FieldSchema() }
    }

    /// Whether every member was asked for, those of nested objects too.
    @usableFromInline var isComplete: Bool { takesAll || !hasGap && asked.nonzeroBitCount == object.count }

    /// All members, of which the vendor accepts any.
    public var whole: JSONObject {
        mutating get {
            takesAll = true
            schema?.takesOthers = true
            return object
        }
    }

    /// A member as it came; `nil` when there is none.
    public subscript(name: String) -> JSON? {
        mutating get {
            describe(name, [:])
            return found(name)
        }
    }

    public var isEmpty: Bool { object.isEmpty }

    /// Lets members pass that have no effect, or that are read elsewhere.
    ///
    /// - Parameter type: what is expected there, as JSON Schema names it.
    public mutating func accept(_ names: [String], as type: String? = nil) {
        for name in names {
            describe(name, type.map { ["type": .string($0)] } ?? [:])
            _ = found(name)
        }
    }

    // MARK: Values

    public mutating func text(_ name: String, atLeast minimum: Int? = nil, atMost maximum: Int? = nil) -> String {
        optionalText(name, isRequired: true, atLeast: minimum, atMost: maximum) ?? ""
    }

    /// A string; `nil` when it is absent, wrong, or an allowed `null`.
    ///
    /// - Parameters:
    ///   - name: the field's name.
    ///   - otherName: an alternative spelling, used when no field has `name`.
    ///   - isRequired: whether its absence is a problem.
    ///   - acceptsNull: whether `null` is allowed; it satisfies a requirement.
    ///   - minimum: the fewest characters; for a required string, by default the policy's.
    ///   - maximum: the most Unicode scalars; in a body, by default the policy's.
    public mutating func optionalText(
        _ name: String, or otherName: String? = nil, isRequired: Bool = false, acceptsNull: Bool = false,
        atLeast minimum: Int? = nil, atMost maximum: Int? = nil
    ) -> String? {
        let expected = "a string"
        describe(
            name, FieldSchema.text(orNull: acceptsNull, minimum, maximum), isRequired: isRequired && otherName == nil)
        if let otherName { describe(otherName, FieldSchema.text(orNull: acceptsNull, minimum, maximum)) }
        guard let value = member(name, or: otherName, isRequired, expected) else { return nil }
        if acceptsNull, value.isNull { return nil }
        guard let text = value.string ?? (policy.readsNumbersAsTexts ? value.number?.literal : nil) else {
            report(name, .wrongType, expected: expected, found: value)
            return nil
        }
        if let fault = fault(of: text, isRequired, minimum, maximum) {
            report(name, fault, expected: expected, found: value)
            return nil
        }
        return text
    }

    private func fault(of text: String, _ isRequired: Bool, _ minimum: Int?, _ maximum: Int?) -> FieldProblem.Kind? {
        let minimum = minimum ?? (isRequired ? policy.textLengths.lowerBound : 0)
        let maximum = maximum ?? (isQuery ? .max : policy.textLengths.upperBound)
        if isRequired, policy.emptyIsAbsent, text.utf8.isEmpty { return .missing }
        // Counting characters is slow: bytes show whether there is one, and a string never has more scalars than bytes.
        let isLongEnough = minimum <= 1 ? text.utf8.count >= minimum : text.prefix(minimum).count == minimum
        if !isLongEnough { return .tooShort(minimum: minimum) }
        let isShortEnough = text.utf8.count <= maximum || text.unicodeScalars.count <= maximum
        return isShortEnough ? nil : .tooLong(maximum: maximum)
    }

    public mutating func bool(_ name: String) -> Bool? {
        describe(name, ["type": "boolean"])
        return value(name, .wrongType, expecting: "a boolean", \.bool)
    }

    /// A whole number in a range; in a query, its digits.
    public mutating func int(_ name: String, in range: ClosedRange<Int>) -> Int? {
        let isQuery = isQuery
        describe(name, FieldSchema.number("integer", JSON(range.lowerBound), JSON(range.upperBound)))
        return value(name, expecting: "a whole number from \(range.lowerBound) to \(range.upperBound)") {
            ($0.int ?? (isQuery ? $0.string.flatMap { Int($0) } : nil)).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    public mutating func number(
        _ name: String, in range: ClosedRange<Double>, isRequired: Bool = false
    ) -> JSONNumber? {
        let expected = "a number from \(JSONNumber(range.lowerBound)) to \(JSONNumber(range.upperBound))"
        let (low, high) = (JSON.number(JSONNumber(range.lowerBound)), JSON.number(JSONNumber(range.upperBound)))
        describe(name, FieldSchema.number("number", low, high))
        return value(name, isRequired: isRequired, expecting: expected) {
            $0.number.flatMap { $0.double.isFinite && range.contains($0.double) ? $0 : nil }
        }
    }

    public mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, of type: Choice.Type = Choice.self, isRequired: Bool = false
    ) -> Choice? {
        describe(name, ["type": "string", "enum": .array(Choice.allCases.map { .string($0.rawValue) })])
        guard let text = optionalText(name, isRequired: isRequired, atLeast: 0) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let choices = Choice.allCases.map(\.rawValue)
            report(name, .noChoice(choices), expected: choices.joined(separator: ", "), found: .string(text))
            return nil
        }
        return choice
    }

    /// A time that `read` parses from a string; a number that could be a time is reported as such.
    public mutating func time<Time>(_ name: String, isRequired: Bool = false, _ read: (String) -> Time?) -> Time? {
        describe(name, ["type": "string", "format": "date-time"])
        if let value = found(name), value.number != nil {
            report(name, .noTime, expected: "a string", found: value)
            return nil
        }
        guard let text = optionalText(name, isRequired: isRequired) else { return nil }
        guard let time = read(text) else {
            report(name, .noTime, found: .string(text))
            return nil
        }
        return time
    }

    public mutating func object(_ name: String, isRequired: Bool = false) -> JSONObject? {
        describe(name, ["type": "object"])
        return value(name, isRequired: isRequired, .wrongType, expecting: "an object", \.object)
    }

    public mutating func list(_ name: String, isRequired: Bool = false) -> [JSON]? {
        describe(name, ["type": "array"])
        let list = value(name, isRequired: isRequired, .wrongType, expecting: "an array", \.array)
        if isRequired, policy.emptyIsAbsent, list?.isEmpty == true {
            report(name, .missing, expected: "an array", found: list.map(JSON.array))
        }
        return list
    }

    public mutating func texts(_ name: String, isRequired: Bool = false) -> [String]? {
        describe(name, ["type": "array", "items": ["type": "string"]])
        guard let list = list(name, isRequired: isRequired) else { return nil }
        for (index, element) in list.enumerated() where element.string == nil {
            note(element, at: index, of: path(to: name), expected: "a string")
            if isOver { break }
        }
        return list.compactMap(\.string)
    }

    /// What `read` makes of a value; `nil` when the field is absent, or when `read` returns `nil`, which is a problem.
    public mutating func value<Value>(
        _ name: String, isRequired: Bool = false, _ kind: FieldProblem.Kind = .wrongValue, expecting expected: String,
        _ read: (JSON) -> Value?
    ) -> Value? {
        let isKnown = schema?.has(name) == true
        describe(name, isKnown ? [:] : ["description": .string(expected)], isRequired: isRequired)
        guard let member = member(name, or: nil, isRequired, expected) else { return nil }
        let value = read(member)
        if value == nil { report(name, kind, expected: expected, found: member) }
        return value
    }

    public mutating func isNull(_ name: String) -> Bool { self[name]?.isNull == true }

    // MARK: Nested objects

    /// What `read` makes of an object; `nil` when it is absent or wrong.
    public mutating func nested<Value>(
        _ name: String, isRequired: Bool = false, _ read: (inout FieldReader) -> Value
    ) -> Value? {
        guard let object = object(name, isRequired: isRequired) else {
            if recordsNames { describe(name, isList: false, read) }
            return nil
        }
        var reader = FieldReader(object, policy, at: path(to: name), recordsNames: schema != nil)
        let value = read(&reader)
        take(reader, of: name)
        return value
    }

    /// What `read` makes of each object of a list; when all problems are reported, elements that are not objects come
    /// first.
    @inlinable public mutating func objects<Value>(
        _ name: String, isRequired: Bool = false, _ read: (inout FieldReader) -> Value
    ) -> [Value] {
        guard let list = list(name, isRequired: isRequired) else {
            if recordsNames { describe(name, isList: true, read) }
            return []
        }
        let path = path(to: name)
        noteOthers(in: list, of: path)
        var values: [Value] = []
        for (index, element) in list.enumerated() {
            guard var reader = reader(of: element, at: index, of: path) else { continue }
            values.append(read(&reader))
            take(reader, of: name, isElement: true)
            if isOver { break }
        }
        return values
    }

    /// Records the names that `read` asks for in an object, or in those of a list, that is not there.
    @usableFromInline
    mutating func describe<Value>(_ name: String, isList: Bool, _ read: (inout FieldReader) -> Value) {
        var reader = FieldReader([:], policy, recordsNames: true)
        _ = read(&reader)
        take(schemaOf: reader, of: name, isElement: isList)
    }

    private mutating func take(schemaOf reader: FieldReader, of name: String, isElement: Bool) {
        guard let asked = reader.schema?.json else { return }
        describe(name, isElement ? ["items": .object(asked)] : asked)
    }

    /// Records elements that are not objects, when all problems are reported.
    @usableFromInline mutating func noteOthers(in list: [JSON], of path: String) {
        guard policy.tellsAll else { return }
        for (index, element) in list.enumerated() where element.object == nil {
            note(element, at: index, of: path, expected: "an object")
        }
    }

    /// A reader of a list element; `nil` when it is not an object, which is recorded unless it already was.
    @usableFromInline mutating func reader(of element: JSON, at index: Int, of path: String) -> FieldReader? {
        if let object = element.object {
            return FieldReader(object, policy, at: path, index: index, recordsNames: recordsNames)
        }
        if !policy.tellsAll { note(element, at: index, of: path, expected: "an object") }
        return nil
    }

    // MARK: Problems

    public mutating func refuseUnknown(_ known: [String]) {
        takesAll = true
        let unknown = object.first { member in !known.contains { $0.hasSameBytes(as: member.name) } }
        if let unknown { report(unknown.name, .unknown(unknown.name, known: known), found: unknown.value) }
    }

    /// Records a problem with a field by a rule of the vendor's own.
    ///
    /// - Parameter reason: what was found and what would be right, following the field's name.
    public mutating func refuse(_ name: String, _ reason: String) { report(name, .other(reason), found: object[name]) }

    public mutating func report(_ name: String, _ kind: FieldProblem.Kind, expected: String = "", found: JSON? = nil) {
        add(FieldProblem(path: path(to: name), kind: kind, expected: expected, found: found, isInQuery: isQuery))
    }

    @usableFromInline mutating func note(_ element: JSON, at index: Int, of list: String, expected: String) {
        let path = list + policy.indexSigns.before + String(index) + policy.indexSigns.behind
        add(FieldProblem(path: path, kind: .wrongType, expected: expected, found: element, list: list))
    }

    @usableFromInline mutating func take(_ reader: FieldReader, of name: String, isElement: Bool = false) {
        for problem in reader.problems { add(problem) }
        if !reader.isComplete { hasGap = true }
        take(schemaOf: reader, of: name, isElement: isElement)
    }

    /// Whether further reading makes no difference.
    @usableFromInline var isOver: Bool { !policy.tellsAll && !problems.isEmpty }

    /// ours: a long list of broken elements does not need an equally long answer.
    public static let mostProblems = 100

    private mutating func add(_ problem: FieldProblem) {
        guard !isOver else { return }
        // The first missing field is kept even past the limit: it may decide the failure.
        if problems.count < Self.mostProblems
            || problem.kind == .missing && !problems.contains(where: { $0.kind == .missing })
        {
            problems.append(problem)
        }
    }

    @usableFromInline func path(to name: String) -> String {
        let place = index.map { base + policy.indexSigns.before + String($0) + policy.indexSigns.behind } ?? base
        return place.isEmpty ? name : "\(place).\(name)"
    }

    /// A member's value, unless it counts as absent.
    private mutating func member(
        _ name: String, or otherName: String?, _ isRequired: Bool, _ expected: String
    ) -> JSON? {
        if isOver { return nil }
        var value = found(name)
        if value == nil, let otherName { value = found(otherName) }
        if let value, !policy.nullIsAbsent || !value.isNull { return value }
        if isRequired { report(name, .missing, expected: expected, found: value) }
        return nil
    }

    /// A member's value, which counts as asked for.
    private mutating func found(_ name: String) -> JSON? {
        guard let position = object.position(of: name) else { return nil }
        asked |= 1 << UInt64(position)
        return object[position].value
    }

    @usableFromInline var recordsNames: Bool { schema != nil }

    /// Records that a field is asked for, and what is expected.
    private mutating func describe(_ name: String, _ expected: @autoclosure () -> JSONObject, isRequired: Bool = false)
    {
        schema?.add(name, expected(), isRequired: isRequired)
    }
}
