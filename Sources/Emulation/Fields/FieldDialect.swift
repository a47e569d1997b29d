public import JSON
public import Wire

/// How somebody who takes requests reads their fields, and what becomes of those that are wrong.
public protocol FieldDialect: Sendable {
    /// What a request with wrong fields is refused with.
    associatedtype FieldRefusal: Error
    /// How fields are read.
    static var fieldPolicy: FieldPolicy { get }
    /// The refusal that problems lead to, of which there is one at least.
    static func refusal(of problems: [FieldProblem]) -> FieldRefusal
}

extension FieldDialect {
    /// The refusal of one field, by a rule of the vendor's own.
    ///
    /// - Parameter reason: what was found and what would be right, behind the field's name.
    public static func refusal(_ name: String, _ reason: String, inQuery isInQuery: Bool = false) -> FieldRefusal {
        refusal(of: [FieldProblem(path: name, kind: .other(reason), isInQuery: isInQuery)])
    }

    /// The refusal of one field that is not there.
    public static func missing(_ name: String, expected: String = "") -> FieldRefusal {
        refusal(of: [FieldProblem(path: name, kind: .missing, expected: expected)])
    }
}

/// How fields are read.
public struct FieldPolicy: Sendable {
    let tellsAll: Bool
    let nullIsAbsent: Bool
    let emptyIsAbsent: Bool
    let readsNumbersAsTexts: Bool
    let textLengths: ClosedRange<Int>
    let indexSigns: (before: String, behind: String)

    /// A policy of these parts.
    ///
    /// - Parameters:
    ///   - tellsAll: whether reading goes on behind the first problem.
    ///   - nullIsAbsent: whether a member that is null counts as absent.
    ///   - emptyIsAbsent: whether a required text or list that is empty counts as absent.
    ///   - readsNumbersAsTexts: whether a number counts as its digits, as where a command line cannot tell it from a text.
    ///   - textLengths: how many characters a required text must have, and how many Unicode scalars any may have.
    ///   - indexSigns: what stands around the index of an element in its path.
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
    /// The members; items of a query are texts.
    public let object: JSONObject
    @usableFromInline let isQuery: Bool
    @usableFromInline let path: String

    /// Members that did not come as a body of their own.
    ///
    /// - Parameter path: where the object stands in one.
    public init(_ object: JSONObject, at path: String = "") {
        self.object = object
        self.path = path
        isQuery = false
    }

    /// The content of a request, which must be a JSON object.
    public init(
        bodyOf request: Request, maximumDepth: Int = JSON.defaultMaximumDepth
    ) throws(Dialect.FieldRefusal) {
        self.init(try Self.content(of: request, maximumDepth, "an object", \.object))
    }

    /// The content of a request, which must be a JSON array; its elements are read by ``FieldReader/elements``.
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

    /// The items of a request's query.
    public init(queryOf request: Request) {
        object = JSONObject(request.queryItems.map { ($0.name, .string($0.value)) })
        isQuery = true
        path = ""
    }

    /// What `read` makes of the fields; where it finds a problem, nothing that it gives is used.
    @inlinable public func read<Value>(
        _ read: (inout FieldReader) -> Value
    ) throws(Dialect.FieldRefusal) -> Value {
        let (value, refusal) = outcome(read)
        if let refusal { throw refusal }
        return value
    }

    /// What `read` makes of the fields, and the refusal that they lead to; for those who judge what is left, too.
    @inlinable public func outcome<Value>(
        _ read: (inout FieldReader) -> Value
    ) -> (value: Value, refusal: Dialect.FieldRefusal?) {
        var reader = FieldReader(object, Dialect.fieldPolicy, isQuery: isQuery, at: path)
        let value = read(&reader)
        return (value, reader.problems.isEmpty ? nil : Dialect.refusal(of: reader.problems))
    }
}

extension Request {
    /// The content as JSON.
    public func json(maximumDepth: Int = JSON.defaultMaximumDepth) throws(FieldProblem) -> JSON {
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

    /// What `read` makes of the members of the content, which must be a JSON object.
    @inlinable public func body<Value>(
        _ read: (inout FieldReader) -> Value
    ) throws(Refusal<V.Failure>) -> Value {
        try body().read(read)
    }

    /// What `read` makes of the content, which must be a JSON array; it reads ``FieldReader/elements``.
    @inlinable public func list<Value>(
        _ read: (inout FieldReader) -> Value
    ) throws(Refusal<V.Failure>) -> Value {
        try Fields<V>(listOf: request).read(read)
    }

    /// The items of the query.
    public var query: Fields<V> { Fields(queryOf: request) }
}
