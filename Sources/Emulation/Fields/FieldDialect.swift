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

/// How fields are read.
public struct FieldPolicy: Sendable {
    /// Whether reading goes on behind the first problem.
    public var tellsAll = false
    /// Whether a member that is null counts as absent.
    public var nullIsAbsent = false
    /// Whether a required text or list that is empty counts as absent.
    public var emptyIsAbsent = false
    /// Whether a number counts as its digits, as where a command line cannot tell it from a text.
    public var readsNumbersAsTexts = false
    /// The longest text in Unicode scalars, where nothing else is said.
    public var longestText = Int.max
    /// What stands before and behind the index of an element in its path.
    public var indexSigns = ("[", "]")

    /// The policy of most: the first problem is told, and null is a value.
    public init() {}
}

/// The fields of a request: the members of a JSON object, or the items of a query.
public struct Fields<Dialect: FieldDialect>: Sendable {
    /// The members; items of a query are texts.
    public let object: JSONObject
    @usableFromInline let isQuery: Bool

    /// Members that did not come as a body of their own.
    public init(_ object: JSONObject) {
        self.object = object
        isQuery = false
    }

    /// The content of a request, which must be a JSON object.
    public init(bodyOf request: Request) throws(Dialect.FieldRefusal) {
        self.init(try Self.content(of: request, "an object", \.object))
    }

    /// The content of a request, which must be a JSON array; its elements are read by ``FieldReader/elements``.
    public init(listOf request: Request) throws(Dialect.FieldRefusal) {
        self.init([FieldReader.elements: .array(try Self.content(of: request, "an array", \.array))])
    }

    private static func content<Value>(
        of request: Request, _ expected: String, _ read: (JSON) -> Value?
    ) throws(Dialect.FieldRefusal) -> Value {
        do throws(FieldProblem) {
            let value = try request.json()
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
    }

    /// What `read` makes of the fields; where it finds a problem, nothing that it gives is used.
    @inlinable public func read<Value>(
        _ read: (inout FieldReader) -> Value
    ) throws(Dialect.FieldRefusal) -> Value {
        var reader = FieldReader(object, Dialect.fieldPolicy, isQuery: isQuery)
        let value = read(&reader)
        guard reader.problems.isEmpty else { throw Dialect.refusal(of: reader.problems) }
        return value
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

    /// The items of the query.
    public var query: Fields<V> { Fields(queryOf: request) }
}
