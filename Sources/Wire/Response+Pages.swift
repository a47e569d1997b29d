import HTTPTypes

// What tells browsers that no page may profit from an answer.
extension HTTPField.Name {
    fileprivate static let frameOptions = Self("X-Frame-Options") ?? .contentSecurityPolicy
}

extension Response {
    /// Bytes that a client sent, returned under the media type that the client named.
    ///
    /// A page made of them would have this server's origin and could read everything there. So a browser saves them
    /// when it navigates to them, runs nothing, and does not guess another type. Images, fonts and fetches by scripts
    /// work as usual.
    public static func clientContent(_ bytes: [UInt8], type: String) -> Response {
        var response = Response(status: .ok, fields: clientContentFields, body: bytes)
        response.fields[.contentType] = type
        return response
    }

    private static let clientContentFields: HTTPFields = [
        .contentType: "", .xContentTypeOptions: "nosniff",
        .contentSecurityPolicy: "sandbox; default-src 'none'; frame-ancestors 'none'", .frameOptions: "DENY",
        .contentDisposition: "attachment",
    ]

    /// Forbids pages to show the response in a frame.
    ///
    /// A response that says itself who may frame it is left as it is.
    public mutating func refuseFrames() {
        if fields[.contentSecurityPolicy]?.contains("frame-ancestors") == true { return }
        fields[.frameOptions] = "DENY"
        if fields[.contentSecurityPolicy] == nil { fields[.contentSecurityPolicy] = "frame-ancestors 'none'" }
    }

    /// Closes the response to pages of other origins, and keeps it from acting as a page itself.
    ///
    /// A response that is meant to be a page brings its own `Content-Security-Policy`, which is kept.
    public mutating func closeToPages() {
        // Nearly all responses here are JSON and share their fields.
        guard fields != Self.jsonFields else { return fields = Self.closedJSONFields }
        for field in Self.closingFields where fields[field.name] == nil { fields.append(field) }
    }

    private static let closingFields: HTTPFields = [
        .xContentTypeOptions: "nosniff", .contentSecurityPolicy: "default-src 'none'; frame-ancestors 'none'",
        .frameOptions: "DENY", .crossOriginResourcePolicy: "same-origin",
    ]

    private static let closedJSONFields: HTTPFields = {
        var fields = jsonFields
        fields.append(contentsOf: closingFields)
        return fields
    }()
}
