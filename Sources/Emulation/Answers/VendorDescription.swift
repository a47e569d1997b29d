package import JSON

/// What a vendor's calls look like from outside, for its documents.
public struct VendorDescription: Sendable {
    package let answers: AnswerCatalog
    package let failures: [FailureShape]
    /// The ways to satisfy each route's access, in the order of the routes.
    package let security: [[[SecurityScheme]]]
}

/// The forms that a failure can have, with their content as JSON Schema.
package struct FailureShape: Sendable {
    package struct Form: Sendable {
        package let status: Int
        /// The media type and schema of the content; `nil` for none.
        package let content: (type: String, schema: JSON)?
    }

    package let name: String
    package let about: String
    package let evidence: Evidence
    package let source: String
    package let forms: [Form]
    /// Its content with the usual parameters, text as a string; `nil` for none.
    let usualContent: JSON?
}

extension FailureShape {
    /// Whether an answer is this failure's, in any of its forms.
    ///
    /// - Parameters:
    ///   - status: `nil` for any, as in a redirect that carries the content.
    ///   - content: text as a string; `nil` if it is unknown.
    package func fits(status: Int?, _ content: JSON?) -> Bool {
        forms.contains { form in
            guard status == nil || form.status == status else { return false }
            guard let content, let schema = form.content?.schema else { return content == nil || content == "" }
            return content.fits(schema)
        }
    }

    /// Whether that is exactly its content, without parameters of a request.
    package func isUsual(_ content: JSON?) -> Bool { content == usualContent }
}

extension JSON {
    /// Whether the value satisfies a schema that ``BodyTemplate/schema(_:)`` made.
    fileprivate func fits(_ schema: JSON) -> Bool {
        if let constant = schema["const"] { return self == constant }
        if let schemas = schema["anyOf"]?.array { return schemas.contains(where: fits) }
        if let type = schema["type"]?.string, type != typeName { return false }
        if let items = schema["items"], let array {
            return array.count == schema["minItems"]?.int && array.allSatisfy { $0.fits(items) }
        }
        guard let object, let properties = schema["properties"] else { return true }
        let required = schema["required"]?.array ?? []
        return required.allSatisfy { $0.string.flatMap { object[$0] } != nil }
            && object.allSatisfy { member in
                (properties[member.name] ?? schema["additionalProperties"]).map { $0.bool ?? member.value.fits($0) }
                    ?? true
            }
    }
}

/// A way to present a credential, named as in an OpenAPI document (version 3.1, section 4.8.27).
public struct SecurityScheme: Sendable {
    package let name: String
    package let json: JSON

    package static func authorization(_ scheme: String) -> SecurityScheme {
        SecurityScheme(name: scheme, json: ["type": "http", "scheme": .string(scheme)])
    }

    /// In another field, in the query, or in a cookie.
    package static func key(_ name: String, in place: String = "header") -> SecurityScheme {
        SecurityScheme(name: name, json: ["type": "apiKey", "in": .string(place), "name": .string(name)])
    }
}
