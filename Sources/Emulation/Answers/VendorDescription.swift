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
}

/// A way to present a credential, named as in an OpenAPI document (version 3.1, section 4.8.27).
public struct SecurityScheme: Sendable {
    package let name: String
    package let json: JSON

    /// In the field Authorization.
    package static func authorization(_ scheme: String) -> SecurityScheme {
        SecurityScheme(name: scheme, json: ["type": "http", "scheme": .string(scheme)])
    }

    /// In another field, in the query, or in a cookie.
    package static func key(_ name: String, in place: String = "header") -> SecurityScheme {
        SecurityScheme(name: name, json: ["type": "apiKey", "in": .string(place), "name": .string(name)])
    }
}
