public import JSON
public import Wire

/// How a recipient of requests reads fields, and how it refuses wrong ones.
public protocol FieldDialect: Sendable {
    /// The error that refuses a request with wrong fields.
    associatedtype FieldRefusal: Error
    static var fieldPolicy: FieldPolicy { get }
    static func refusal(of problems: [FieldProblem]) -> FieldRefusal
}

extension FieldDialect {
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
    let textLengths: ClosedRange<Int>
    let indexSigns: (before: String, behind: String)

    /// Creates a policy from its parts.
    ///
    /// - Parameters:
    ///   - tellsAll: whether reading continues after the first problem.
    ///   - nullIsAbsent: whether a null member counts as absent.
    ///   - emptyIsAbsent: whether an empty required string or list counts as absent.
    ///   - readsNumbersAsTexts: whether a number counts as its digits, as when a command line cannot tell it from a
    ///     string.
    ///   - textLengths: the minimum characters of a required string, and the maximum Unicode scalars of any.
    ///   - indexSigns: what surrounds an element's index in its path.
    public init(
        tellsAll: Bool = false, nullIsAbsent: Bool = false, emptyIsAbsent: Bool = false,
        readsNumbersAsTexts: Bool = false, textLengths: ClosedRange<Int> = 0...Int.max,
        indexSigns: (before: String, behind: String) = ("[", "]")
    ) {
        self.tellsAll = tellsAll
        self.nullIsAbsent = nullIsAbsent
        self.emptyIsAbsent = emptyIsAbsent
        self.readsNumbersAsTexts = readsNumbersAsTexts
        self.textLengths = textLengths
        self.indexSigns = indexSigns
    }
}

/// The fields of a request: the members of a JSON object, or the items of a query.
public struct Fields<Dialect: FieldDialect>: Sendable {
    /// The members; query items are strings.
    public let object: JSONObject
    @usableFromInline let isQuery: Bool
    @usableFromInline let path: String

    /// Creates fields from members that are not a whole body.
    ///
    /// - Parameter path: where the object stands in the body.
    public init(_ object: JSONObject, at path: String = "") {
        self.object = object
        self.path = path
        isQuery = false
    }

    /// Reads the content of a request, which must be a JSON object.
    public init(
        bodyOf request: Request, maximumDepth: Int = JSON.defaultMaximumDepth
    ) throws(Dialect.FieldRefusal) {
        self.init(try Self.content(of: request, maximumDepth, "an object", \.object))
    }

    /// Reads the content of a request, which must be a JSON array; ``FieldReader/elements`` names its elements.
    public init(listOf request: Request) throws(Dialect.FieldRefusal) {
        let elements = try Self.content(of: request, JSON.defaultMaximumDepth, "an array", \.array)
        self.init([FieldReader.elements: .array(elements)])
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

    /// Reads the query items of a request.
    public init(queryOf request: Request) {
        let items = request.queryItems
        object = items.isEmpty ? [:] : JSONObject(items.map { ($0.name, .string($0.value)) })
        isQuery = true
        path = ""
    }

    /// Returns what `read` makes of the fields; when it finds a problem, the result is discarded.
    @inlinable public func read<Value>(
        _ read: (inout FieldReader) -> Value
    ) throws(Dialect.FieldRefusal) -> Value {
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
        let value = read(&reader)
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
    @inlinable public func body() throws(Refusal<V.Failure>) -> Fields<V> { try Fields(bodyOf: request) }

    /// Returns what `read` makes of the members of the content, which must be a JSON object.
    @inlinable public func body<Value>(
        _ read: (inout FieldReader) -> Value
    ) throws(Refusal<V.Failure>) -> Value {
        try body().read(read)
    }

    /// Returns what `read` makes of the content, which must be a JSON array; `read` uses ``FieldReader/elements``.
    @inlinable public func list<Value>(
        _ read: (inout FieldReader) -> Value
    ) throws(Refusal<V.Failure>) -> Value {
        try Fields<V>(listOf: request).read(read)
    }

    public var query: Fields<V> { Fields(queryOf: request) }
}
