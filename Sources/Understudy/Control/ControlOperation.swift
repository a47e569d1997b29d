import Emulation
import HTTPTypes
import JSON
import Wire

/// One call of the control API: where it is, what it takes and gives, and what it does.
struct ControlOperation: Sendable {
    /// What answers a call.
    typealias Handler = @Sendable (ControlCall) throws(ControlProblem) -> Answer

    /// A parameter of the query.
    struct Parameter: Sendable {
        let name: String
        let about: String
        /// Its JSON Schema.
        let schema: JSON

        init(_ name: String, _ about: String, _ schema: JSON = ["type": "string"]) {
            self.name = name
            self.about = about
            self.schema = schema
        }
    }

    /// What the control API's own path begins with.
    static let prefix = "/_understudy"

    /// The stable name, such as `clock.set`.
    let id: String
    let endpoint: Endpoint
    /// What it does, in one line.
    let summary: String
    let query: [Parameter]
    /// The JSON Schema of the request's content; `nil` when it has none.
    let content: JSON?
    /// The longest request content in bytes; `nil` for the server's limit.
    let bodyLimit: Int?
    /// The status of an answer without complaint.
    let status: HTTPResponse.Status
    /// The JSON Schema of the answer's content; `nil` when it has none.
    let answer: JSON?
    let handler: Handler

    /// A call of these parts; `path` comes behind ``prefix``.
    init(
        _ id: String, _ method: HTTPRequest.Method, _ path: String, _ summary: String, query: [Parameter] = [],
        content: JSON? = nil, bodyLimit: Int? = nil, status: HTTPResponse.Status = .ok, answer: JSON? = nil,
        handler: @escaping Handler
    ) {
        self.id = id
        endpoint = Endpoint(method, Self.prefix + path)
        self.summary = summary
        self.query = query
        self.content = content
        self.bodyLimit = bodyLimit
        self.status = status
        self.answer = answer
        self.handler = handler
    }
}
