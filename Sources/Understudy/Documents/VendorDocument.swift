package import Emulation
import HTTPTypes
package import JSON
import Wire

/// A vendor for tools: its routes, answers, failures and credentials as OpenAPI 3.1, its frames as AsyncAPI 3.0.
///
/// The same fixtures give the same text.
package struct VendorDocument: Sendable {
    private let identity: VendorIdentity
    private let routes: [RouteListing]
    private let description: VendorDescription

    /// - Throws: the first problem with the files that say what the answers look like.
    package init(_ vendor: any AnyLoadedVendor) throws(FixtureProblem) {
        (identity, routes, description) = (vendor.identity, vendor.routes, try vendor.description())
    }

    package var openAPI: JSON {
        var schemes = JSONObject()
        for scheme in description.security.joined().joined() { schemes[scheme.name] = scheme.json }
        return [
            "openapi": "3.1.0", "info": info, "paths": .object(paths),
            "components": ["schemas": .object(schemas), "securitySchemes": .object(schemes)],
        ]
    }

    private var info: JSON {
        ["title": .string("\(identity.title), as Understudy answers"), "version": .string(Emulator.version)]
    }

    // MARK: Schemas

    /// What several answers share, each answer as `ROUTE.STATUS`, and each failure as `failure.NAME`.
    private var schemas: JSONObject {
        var schemas = parts
        for route in routes {
            for (status, shape) in description.answers.routes[route.id]?.answers ?? [] where shape.schema != nil {
                schemas.append("\(route.id).\(status)", Self.annotated(shape.schema, shape.evidence, shape.source))
            }
        }
        for failure in description.failures {
            let contents = failure.forms.compactMap(\.content?.schema)
            if contents.isEmpty { continue }
            schemas.append(
                "failure.\(failure.name)", Self.annotated(.either(contents), failure.evidence, failure.source))
        }
        return schemas
    }

    private var parts: JSONObject {
        JSONObject(
            description.answers.parts.map { name, shape in
                (name, Self.annotated(shape.schema, shape.evidence, shape.source))
            })
    }

    /// The schema with where it is known from. Generators take no component that is nothing but a reference.
    private static func annotated(_ schema: JSON?, _ evidence: Evidence, _ source: String) -> JSON {
        let schema = schema ?? true
        var object = schema["$ref"] == nil ? schema.object ?? [:] : ["anyOf": [schema]]
        if schema == false { object["not"] = [:] }
        object.append("x-evidence", .string(evidence.rawValue))
        object.append("x-source", .string(source))
        return .object(object)
    }

    // MARK: Paths

    /// The endpoints by path; one that differs from another only in the names of its parameters is the same path.
    private var paths: JSONObject {
        var (paths, known): (JSONObject, [String: String]) = ([:], [:])
        for (route, ways) in zip(routes, description.security) {
            for (index, endpoint) in route.endpoints.enumerated() {
                let shape = endpoint.pattern.replacing(/{[^}]*}/, with: "{}")
                let path = known[shape] ?? endpoint.pattern.replacing("...}", with: "}")
                known[shape] = path
                var item = paths[path]?.object ?? [:]
                var operation = operation(route, endpoint, at: path)
                operation["operationId"] = .string(index == 0 ? route.id : "\(route.id)-\(index + 1)")
                if !ways.isEmpty { operation["security"] = .array(ways.map(Self.requirement)) }
                item.append(endpoint.method.rawValue.lowercased(), .object(operation))
                paths[path] = .object(item)
            }
        }
        return paths
    }

    private static func requirement(_ schemes: [SecurityScheme]) -> JSON {
        .object(JSONObject(schemes.map { ($0.name, []) }))
    }

    private func operation(_ route: RouteListing, _ endpoint: Endpoint, at path: String) -> JSONObject {
        let request = description.answers.requests[route.id]
        var parameters = path.parameterNames.map { Self.parameter($0, in: "path", ["type": "string"]) }
        parameters += (request?.query ?? []).map { Self.parameter($0.name, in: "query", $0.schema) }
        var operation: JSONObject = [
            "operationId": "", "x-route": .string(route.id),
            "x-evidence": .string(route.evidence(of: endpoint).rawValue), "x-source": .string(route.source),
        ]
        if !parameters.isEmpty { operation["parameters"] = .array(parameters) }
        if endpoint.method != .get, let (type, schema) = request?.content {
            let content: JSON = ["schema": schema]
            operation["requestBody"] = ["content": .object([type: content])]
        }
        let answers = description.answers.routes[route.id]
        operation["responses"] =
            answers.map { responses(of: route.id, $0) } ?? ["default": ["description": "Not described."]]
        operation["x-failures"] = .array((answers?.refused ?? []).map(JSON.string))
        return operation
    }

    private static func parameter(_ name: String, in place: String, _ schema: JSON) -> JSON {
        ["name": .string(name), "in": .string(place), "required": .bool(place == "path"), "schema": schema]
    }

    /// The responses by status, each with all that the route can answer under it.
    private func responses(of route: String, _ answers: AnswerCatalog.Route) -> JSON {
        var forms: [(status: Int, type: String?, schema: JSON)] = []
        for (status, shape) in answers.answers {
            forms.append((status, shape.type, [:]))
            let reference = ControlDocument.reference("\(route).\(status)")
            if shape.schema != nil { forms.append((status, "application/json", reference)) }
        }
        for failure in description.failures where answers.refused.contains(failure.name) {
            let reference = ControlDocument.reference("failure.\(failure.name)")
            forms += failure.forms.map { ($0.status, $0.content?.type, reference) }
        }
        let responses = Set(forms.map(\.status)).sorted().map { status in
            var response: JSONObject = ["description": .string(HTTPResponse.Status(standard: status).reasonPhrase)]
            if let shape = answers.answers.first(where: { $0.status == status })?.shape {
                response["x-evidence"] = .string(shape.evidence.rawValue)
                response["x-source"] = .string(shape.source)
            }
            let typed = Dictionary(grouping: forms.filter { $0.status == status && $0.type != nil }) { $0.type ?? "" }
            let content: [(String, JSON)] = typed.sorted { $0.key < $1.key }.map { type, forms in
                (type, ["schema": JSON.either(forms.map(\.schema))])
            }
            if !content.isEmpty { response["content"] = .object(JSONObject(content)) }
            return (String(status), JSON.object(response))
        }
        return .object(JSONObject(responses))
    }

    /// The sockets and what they say and hear; `nil` for a vendor without sockets.
    package var asyncAPI: JSON? {
        let frames = description.answers.frames
        if frames.isEmpty { return nil }
        var (channels, operations): (JSONObject, JSONObject) = ([:], [:])
        for route in routes {
            let answers = description.answers.routes[route.id]?.answers ?? []
            guard let path = route.endpoints.first?.pattern, answers.contains(where: { $0.status == 101 }) else {
                continue
            }
            channels[route.id] = [
                "address": .string(path), "parameters": .object(JSONObject(path.parameterNames.map { ($0, [:]) })),
                "messages": Self.references(frames, in: "#/components"),
            ]
            let place = "#/channels/\(route.id)"
            for (action, direction) in [("send", AnswerCatalog.Frame.Direction.sent), ("receive", .received)] {
                let messages = Self.references(frames.filter { $0.direction == direction }, in: place).object ?? [:]
                if messages.isEmpty { continue }
                operations["\(route.id).\(action)"] = [
                    "action": .string(action), "channel": ["$ref": .string(place)],
                    "messages": .array(messages.map(\.value)),
                ]
            }
        }
        var messages = JSONObject()
        for frame in frames {
            let payload = Self.annotated(frame.shape.schema, frame.shape.evidence, frame.shape.source)
            messages.append(frame.name, ["payload": payload])
        }
        return [
            "asyncapi": "3.0.0", "info": info, "channels": .object(channels), "operations": .object(operations),
            "components": ["messages": .object(messages), "schemas": .object(parts)],
        ]
    }

    private static func references(_ frames: [AnswerCatalog.Frame], in place: String) -> JSON {
        .object(JSONObject(frames.map { ($0.name, ["$ref": .string("\(place)/messages/\($0.name)")]) }))
    }
}
