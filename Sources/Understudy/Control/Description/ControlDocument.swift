import Emulation
import HTTPTypes
import JSON

/// The control API as an OpenAPI 3.1 document, generated from the operations.
struct ControlDocument {
    let operations: [ControlOperation]
    /// Whether calls without the control token are refused.
    let asksForToken: Bool

    /// A refusal that any call may return with the same text.
    private struct RefusalExample {
        let status: HTTPResponse.Status
        let name: String
        let about: String
    }

    private static let badRequest = RefusalExample(
        status: .badRequest, name: "BadRequest",
        about: "The request names no sandbox that could be, or its query or content is wrong.")
    private static let unauthorized = RefusalExample(
        status: .unauthorized, name: "Unauthorized", about: "The control token is missing or another one.")
    private static let forbidden = RefusalExample(
        status: .forbidden, name: "Forbidden",
        about: "A web page of another origin may have sent it, by its Host, Origin, Sec-Fetch-Site or Content-Type.")
    private static let notFound = RefusalExample(
        status: .notFound, name: "NotFound", about: "What the call names is not there.")
    private static let methodNotAllowed = RefusalExample(
        status: .methodNotAllowed, name: "MethodNotAllowed",
        about: "What a path answers to a method that it does not know; Allow names those that it knows.")
    private static let contentTooLarge = RefusalExample(
        status: .contentTooLarge, name: "ContentTooLarge", about: "The content is longer than the limit.")

    var json: JSON {
        [
            "openapi": "3.1.0", "info": info, "servers": [["url": "/"]], "security": security,
            "paths": .object(paths), "components": .object(components),
        ]
    }

    private var info: JSON {
        [
            "title": "The control API of Understudy", "version": .string(Emulator.version),
            "description": """
            Steers the sandbox that the request selects: by the path prefix /~NAME before the paths below, by the \
            header X-Understudy-Sandbox, or by the host NAME.localhost. No call appears in the journal. HEAD \
            follows GET; any other method that a path does not know is answered 405.
            """,
        ]
    }

    /// Without a control token, the server accepts any.
    private var security: JSON { asksForToken ? [["controlToken": []]] : [["controlToken": []], [:]] }

    private var components: JSONObject {
        let refusals = [
            Self.badRequest, Self.unauthorized, Self.forbidden, Self.notFound, Self.methodNotAllowed,
            Self.contentTooLarge,
        ]
        return [
            "schemas": .object(JSONObject(NamedSchema.all.map { ($0.name, $0.schema) })),
            "responses": .object(JSONObject(refusals.map { ($0.name, Self.response($0)) })),
            "parameters": ["Sandbox": Self.sandbox],
            "securitySchemes": [
                "controlToken": [
                    "type": "http", "scheme": "bearer", "description": "The token given to serve --control-token.",
                ]
            ],
        ]
    }

    private static let sandbox: JSON = [
        "name": .string(HTTPField.Name.sandbox.rawName), "in": "header",
        "description": "The sandbox that the call is for; the standard one when nothing selects another.",
        "schema": ["type": "string", "pattern": .string(SandboxName.pattern)],
    ]

    private static func response(_ refusal: RefusalExample) -> JSON {
        var response: JSONObject = [
            "description": .string(refusal.about),
            "content": ["application/json": ["schema": NamedSchema.problem.reference]],
        ]
        if refusal.status == .methodNotAllowed {
            response["headers"] = ["Allow": ["required": true, "schema": ["type": "string"]]]
        }
        return .object(response)
    }
}

// MARK: - Operations

extension ControlDocument {
    private var paths: JSONObject {
        operations.reduce(into: [:]) { paths, operation in
            var item =
                paths[operation.endpoint.pattern]?.object
                ?? ["parameters": [["$ref": "#/components/parameters/Sandbox"]]]
            item[operation.endpoint.method.rawValue.lowercased()] = .object(Self.json(operation))
            paths[operation.endpoint.pattern] = .object(item)
        }
    }

    private static func json(_ operation: ControlOperation) -> JSONObject {
        var object: JSONObject = [
            "operationId": .string(operation.id), "summary": .string(operation.summary),
            "tags": [.string(String(operation.id.prefix { $0 != "." }))],
        ]
        let parameters = parameters(of: operation)
        if !parameters.isEmpty { object["parameters"] = .array(parameters) }
        if let content = operation.content {
            object["requestBody"] = [
                "required": .bool(content.isRequired), "content": ["application/json": ["schema": content.schema]],
            ]
        }
        object["responses"] = .object(responses(of: operation))
        if operation.isOpen { object["security"] = [] }
        return object
    }

    private static func parameters(of operation: ControlOperation) -> [JSON] {
        let path = operation.pathParameters.map { name in
            parameter(operation.path.first { $0.name == name } ?? .init(name, "The \(name)."), in: "path")
        }
        return path + operation.query.map { parameter($0, in: "query") }
    }

    private static func parameter(_ parameter: ControlOperation.Parameter, in place: String) -> JSON {
        [
            "name": .string(parameter.name), "in": .string(place), "required": .bool(place == "path"),
            "description": .string(parameter.about), "schema": parameter.schema,
        ]
    }

    private static func responses(of operation: ControlOperation) -> JSONObject {
        var responses: JSONObject = [:]
        for outcome in operation.outcomes {
            var response: JSONObject = ["description": .string(outcome.about)]
            if let schema = outcome.schema {
                var content: JSONObject = [outcome.mediaType: ["schema": schema]]
                if outcome.isAlsoText { content["text/plain"] = ["schema": ["type": "string"]] }
                response["content"] = .object(content)
            }
            responses[String(outcome.status.code)] = .object(response)
        }
        var refusals = [badRequest, forbidden, contentTooLarge]
        if !operation.isOpen { refusals.append(unauthorized) }
        if operation.mayMiss { refusals.append(notFound) }
        for refusal in refusals.sorted(by: { $0.status.code < $1.status.code }) {
            responses[String(refusal.status.code)] = ["$ref": .string("#/components/responses/\(refusal.name)")]
        }
        return responses
    }
}
