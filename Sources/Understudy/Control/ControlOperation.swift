import Emulation
import HTTPTypes
import JSON
import Wire

/// One call of the control API: its path, input, output and handler.
struct ControlOperation: Sendable {
    typealias Handler = @Sendable (ControlCall) throws(ControlProblem) -> Answer

    /// A parameter of the path or of the query.
    struct Parameter: Sendable {
        let name: String
        let about: String
        let schema: JSON

        init(_ name: String, _ about: String, _ schema: JSON = ["type": "string"]) {
            self.name = name
            self.about = about
            self.schema = schema
        }
    }

    /// The content that a call accepts.
    struct Content: Sendable {
        let schema: JSON
        /// Whether a call without content is refused.
        let isRequired: Bool
        /// Whether it is a vendor's state, which may be longer than other content.
        var isState = false

        static func required(_ schema: JSON) -> Content { Content(schema: schema, isRequired: true) }
        /// A vendor's state, which a call requires.
        static func state(_ schema: JSON) -> Content { Content(schema: schema, isRequired: true, isState: true) }
        static func optional(_ schema: JSON) -> Content { Content(schema: schema, isRequired: false) }
    }

    /// A call's result: the status, its meaning, and the form of the content.
    struct Outcome: Sendable {
        let status: HTTPResponse.Status
        let about: String
        /// The JSON Schema of the content; `nil` when it has none.
        let schema: JSON?
        let mediaType: String
        /// Whether it can also be text, depending on the call's query.
        var isAlsoText = false

        init(_ status: HTTPResponse.Status, _ about: String, _ schema: JSON?, mediaType: String = "application/json") {
            self.status = status
            self.about = about
            self.schema = schema
            self.mediaType = mediaType
        }

        /// 200 with JSON of that schema.
        static func json(_ about: String, _ schema: NamedSchema) -> Outcome {
            Outcome(.ok, about, schema.reference)
        }

        /// 200 with JSON of that schema, or text when the query asks for a text form.
        static func forms(_ about: String, _ schema: NamedSchema) -> Outcome {
            var outcome = json(about, schema)
            outcome.isAlsoText = true
            return outcome
        }

        /// 204 and nothing else.
        static let done = Outcome(.noContent, "Done.", nil)
    }

    /// The prefix of all control API paths.
    static let prefix = "/_understudy"

    /// The stable name, such as `clock.set`.
    let id: String
    let endpoint: Endpoint
    let summary: String
    /// Descriptions of path parameters; those without one are plain strings.
    let path: [Parameter]
    /// All parameters that the query may have; the call refuses others.
    let query: [Parameter]
    let content: Content?
    /// Its results for valid calls, the usual one first.
    let outcomes: [Outcome]
    /// Whether the content may name something that does not exist, which is answered with 404; a path always may.
    let mayMiss: Bool
    /// The names of the parameters in the path, in order.
    let pathParameters: [String]
    let handler: Handler

    /// Creates a call from its parts; `path` follows ``prefix``.
    init(
        _ id: String, _ method: HTTPRequest.Method, _ path: String, _ summary: String, in parameters: [Parameter] = [],
        query: [Parameter] = [], content: Content? = nil, gives outcomes: Outcome..., mayMiss: Bool = false,
        handler: @escaping Handler
    ) {
        self.id = id
        endpoint = Endpoint(method, Self.prefix + path)
        self.summary = summary
        self.path = parameters
        self.query = query
        self.content = content
        self.outcomes = outcomes
        pathParameters = path.split(separator: "/").filter { $0.hasPrefix("{") }.map {
            String($0.dropFirst().dropLast())
        }
        self.mayMiss = mayMiss || !pathParameters.isEmpty
        self.handler = handler
    }

    /// Whether its answers contain nothing to hide: a requested token, descriptions that do not include others' data,
    /// and what was already masked.
    var givesCleanAnswers: Bool {
        [
            "tokens.mint", "openapi", "health", "health.live", "health.ready", "journal.list", "journal.get",
            "journal.verify", "vendors.list", "vendors.sample", "actions.list",
        ].contains(id)
    }

    /// Whether it works in the sandbox that the call selects.
    var isOfSandbox: Bool {
        ![
            "health", "health.live", "health.ready", "openapi", "vendors.list", "actions.list", "metrics",
            "sandboxes.list", "sandboxes.set", "sandboxes.delete",
        ].contains(id)
    }

    /// Whether it never requires the control token, so that a probe needs no secret.
    var isOpen: Bool { id == "health" || id.hasPrefix("health.") }
}
