public import JSON
public import Wire

/// How a recipient of requests reads fields, and how it refuses wrong ones.
public protocol FieldDialect: Sendable {
    associatedtype FieldRefusal: Error
    static var fieldPolicy: FieldPolicy { get }
    static func refusal(of problems: [FieldProblem]) -> FieldRefusal
}

extension FieldDialect {
    /// By default, the first problem is told alone, and null, empty texts and numbers are what they are.
    public static var fieldPolicy: FieldPolicy { FieldPolicy() }

    /// The refusal of one field, by a rule of the vendor's own.
    ///
    /// - Parameter reason: what was found and what would be right, following the field's name.
    public static func refusal(_ name: String, _ reason: String, inQuery isInQuery: Bool = false) -> FieldRefusal {
        refusal(of: [FieldProblem(path: name, kind: .other(reason), isInQuery: isInQuery)])
    }

    public static func missing(_ name: String, expected: String = "") -> FieldRefusal {
        refusal(of: [FieldProblem(path: name, kind: .missing, expected: expected)])
    }
}

public struct FieldPolicy: Sendable {
    let tellsAll: Bool
    let nullIsAbsent: Bool
    let emptyIsAbsent: Bool
    let readsNumbersAsTexts: Bool
    let plusIsSpace: Bool
    let textLengths: ClosedRange<Int>
    let indexSigns: (before: String, behind: String)

    /// Creates a policy from its parts.
    ///
    /// - Parameters:
    ///   - tellsAll: whether reading continues after the first problem.
    ///   - nullIsAbsent: whether a null member counts as absent.
    ///   - emptyIsAbsent: whether an empty required string or list counts as absent.
    ///   - readsNumbersAsTexts: whether a number counts as its digits, for command lines, which cannot distinguish it
    ///     from a string.
    ///   - plusIsSpace: whether `+` in a query means a space, as in a form.
    ///   - textLengths: the minimum characters of a required string, and the maximum Unicode scalars of any.
    ///   - indexSigns: what surrounds an element's index in its path.
    public init(
        tellsAll: Bool = false, nullIsAbsent: Bool = false, emptyIsAbsent: Bool = false,
        readsNumbersAsTexts: Bool = false, plusIsSpace: Bool = false, textLengths: ClosedRange<Int> = 0...Int.max,
        indexSigns: (before: String, behind: String) = ("[", "]")
    ) {
        (self.tellsAll, self.nullIsAbsent, self.emptyIsAbsent) = (tellsAll, nullIsAbsent, emptyIsAbsent)
        (self.readsNumbersAsTexts, self.textLengths, self.indexSigns) = (readsNumbersAsTexts, textLengths, indexSigns)
        self.plusIsSpace = plusIsSpace
    }
}

/// The fields of a request: the members of a JSON object, or the items of a query.
public struct Fields<Dialect: FieldDialect>: Sendable {
    /// The members; query items are strings. Looking one up here does not count as reading it.
    public let object: JSONObject
    @usableFromInline let isQuery: Bool
    @usableFromInline let path: String
    @usableFromInline let ledger: (any ReadingLedger)?
    /// The names that each reading lets pass, since they are read elsewhere.
    @usableFromInline var passing: [(names: [String], type: String?)] = []

    /// Creates fields from members that are not a whole body.
    ///
    /// - Parameters:
    ///   - path: where the object stands in the body.
    ///   - ledger: notes what is read, if the object stands for the whole content.
    public init(_ object: JSONObject, at path: String = "", notedBy ledger: (any ReadingLedger)? = nil) {
        (self.object, self.path, self.ledger, isQuery) = (object, path, ledger, false)
    }

    /// Reads the content of a request, which must be a JSON object.
    public init(
        bodyOf request: Request, maximumDepth: Int = JSON.defaultMaximumDepth,
        notedBy ledger: (any ReadingLedger)? = nil
    ) throws(Dialect.FieldRefusal) {
        self.init(try Self.content(of: request, maximumDepth, "an object", \.object), notedBy: ledger)
    }

    /// Reads the content of a request, which must be a JSON array; ``FieldReader/elements`` names its elements.
    public init(listOf request: Request, notedBy ledger: (any ReadingLedger)? = nil) throws(Dialect.FieldRefusal) {
        let elements = try Self.content(of: request, JSON.defaultMaximumDepth, "an array", \.array)
        self.init([FieldReader.elements: .array(elements)], notedBy: ledger)
    }

    private static func content<Value>(
        of request: Request, _ maximumDepth: Int, _ expected: String, _ read: (JSON) -> Value?
    ) throws(Dialect.FieldRefusal) -> Value {
        do throws(FieldProblem) {
            let value = try request.json(maximumDepth: maximumDepth)
            if let content = read(value) { return content }
            throw FieldProblem(path: "", kind: .otherContent, expected: expected, found: value)
        } catch {
            throw Dialect.refusal(of: [error])
        }
    }

    public init(queryOf request: Request, notedBy ledger: (any ReadingLedger)? = nil) {
        let items =
            Dialect.fieldPolicy.plusIsSpace
            ? request.query.map { PercentEncoding.formItems(of: $0) } ?? [] : request.queryItems
        object = items.isEmpty ? [:] : JSONObject(items.map { ($0.name, .string($0.value)) })
        (isQuery, path, self.ledger) = (true, "", ledger)
    }

    /// The same fields, of which these are read elsewhere.
    public func passing(_ names: String..., as type: String? = nil) -> Fields {
        var fields = self
        fields.passing.append((names, type))
        return fields
    }

    /// Returns what `read` makes of the fields; when it finds a problem, the result is discarded.
    ///
    /// `read` must change nothing else: it may run twice.
    @inlinable public func read<Value>(_ read: (inout FieldReader) -> Value) throws(Dialect.FieldRefusal) -> Value {
        let (value, refusal) = outcome(read)
        if let refusal { throw refusal }
        return value
    }

    /// Returns what `read` makes of the fields with the refusal they cause, for callers that also judge a partial
    /// result.
    @inlinable public func outcome<Value>(
        _ read: (inout FieldReader) -> Value
    ) -> (value: Value, refusal: Dialect.FieldRefusal?) {
        var reader = FieldReader(object, Dialect.fieldPolicy, isQuery: isQuery, at: path)
        for (names, type) in passing { reader.accept(names, as: type) }
        let value = read(&reader)
        if let ledger {
            let isWhole = reader.isComplete || !reader.problems.isEmpty
            if isWhole { ledger.note(isQuery ? .query : .content) }
            if !isWhole || ledger.describesReading {
                // Once more for the names: nearly every request has no other fields than those that are read.
                var recorder = FieldReader(object, Dialect.fieldPolicy, isQuery: isQuery, at: path, recordsNames: true)
                for (names, type) in passing { recorder.accept(names, as: type) }
                _ = read(&recorder)
                ledger.note(namesOf: recorder)
            }
        }
        return (value, reader.problems.isEmpty ? nil : Dialect.refusal(of: reader.problems))
    }
}

extension Request {
    package func json(maximumDepth: Int = JSON.defaultMaximumDepth) throws(FieldProblem) -> JSON {
        do {
            return try JSON.parse(body, maximumDepth: maximumDepth)
        } catch {
            throw FieldProblem(path: "", kind: .notJSON(error, isEmpty: body.isEmpty))
        }
    }
}

extension Call where V: FieldDialect, V.FieldRefusal == Refusal<V.Failure> {
    /// The members of the content, which must be a JSON object.
    @inlinable public func body() throws(Refusal<V.Failure>) -> Fields<V> {
        try Fields(bodyOf: request, notedBy: arrival)
    }

    /// Returns what `read` makes of the members of the content, which must be a JSON object.
    @inlinable public func body<Value>(_ read: (inout FieldReader) -> Value) throws(Refusal<V.Failure>) -> Value {
        try body().read(read)
    }

    /// Returns what `read` makes of the content, which must be a JSON array; `read` uses ``FieldReader/elements``.
    @inlinable public func list<Value>(_ read: (inout FieldReader) -> Value) throws(Refusal<V.Failure>) -> Value {
        try Fields<V>(listOf: request, notedBy: arrival).read(read)
    }

    public var query: Fields<V> { Fields(queryOf: request, notedBy: arrival) }
}

extension Call {
    /// Returns what `read` makes of the members of the content, which must be a JSON object, in another dialect than
    /// the vendor's own.
    package func body<Dialect: FieldDialect, Value>(
        _: Dialect.Type, _ read: (inout FieldReader) -> Value
    ) throws(Dialect.FieldRefusal) -> Value {
        try Fields<Dialect>(bodyOf: request, notedBy: arrival).read(read)
    }
}

/// What is wrong with the content of a request, or with one field: a body member or a query item.
///
/// The vendor's ``FieldDialect`` words it and turns it into a failure.
public struct FieldProblem: Error, Hashable {
    public enum Kind: Sendable, Hashable {
        case notJSON(JSONError, isEmpty: Bool)
        case otherContent
        /// A required field is absent, or counts as absent.
        case missing
        case wrongType
        case wrongValue
        case noChoice([String])
        case noTime
        /// The string is too short, in characters.
        case tooShort(minimum: Int)
        /// The string is too long, in characters.
        case tooLong(maximum: Int)
        /// No field has that name; `known` lists the valid ones.
        case unknown(String, known: [String])
        /// A rule of the vendor's own; the string says what was found and what would be right.
        case other(String)
    }

    /// Where the field stands, such as `points.0.lat`; empty for the content itself.
    public let path: String
    public let kind: Kind
    /// What would be right, such as `a string`.
    public var expected = ""
    public var found: JSON?
    /// The path of the list that directly contains the value, if any.
    public var list: String?
    public var isInQuery = false

    /// What is wrong with the content as a whole; `nil` when the problem is in a field.
    ///
    /// - Parameters:
    ///   - content: the name for the content.
    ///   - expected: what should have been JSON.
    ///   - emptiness: the wording for empty content; `nil` to treat it like any other content that is not JSON.
    public func reason(
        of content: String = "the body", expected: String? = "a JSON object",
        whenEmpty emptiness: String? = "is empty, not a JSON object"
    ) -> String? {
        switch kind {
        case .notJSON(_, isEmpty: true) where emptiness != nil: "\(content) \(emptiness ?? "")"
        case .notJSON(let error, _): "\(content) is not JSON: \(error)" + (expected.map { "; expected \($0)" } ?? "")
        case .otherContent: "\(content) \(typeMismatch)"
        default: nil
        }
    }

    public var typeMismatch: String { "is a JSON \(found?.typeName ?? "null"), not \(expected)" }
}

extension FieldProblem: CustomStringConvertible {
    /// The problem for people: where it is, what was found and what would be right.
    public var description: String {
        switch kind {
        case .missing: return "there is no member \(path); expected \(expected)"
        case .tooShort(let minimum):
            let length = found?.string?.count ?? 0
            return length == 0
                ? "\(path) is empty; expected at least \(minimum) character\(minimum == 1 ? "" : "s")"
                : "\(path) has \(length) characters; expected at least \(minimum)"
        case .tooLong(let maximum):
            return "\(path) has \(found?.string?.unicodeScalars.count ?? 0) characters; expected at most \(maximum)"
        case .noChoice(let choices):
            return "\(path) is invalid; expected \(choices.joined(separator: ", "))"
        case .unknown(let name, let known): return "\(path) is unknown\(Nearest.hint(to: name, among: known))"
        case .wrongValue where !expected.isEmpty: return "\(path) is invalid; expected \(expected)"
        case .other(let reason): return "\(path) \(reason)"
        default: return reason() ?? "\(path) \(typeMismatch)"
        }
    }
}
