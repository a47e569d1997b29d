import HTTPTypes

// What a browser must be told of an answer, so that no page gains anything by it.
extension HTTPField.Name {
    fileprivate static let frameOptions = Self("X-Frame-Options") ?? .contentSecurityPolicy
}

extension Response {
    /// Bytes that a client sent, given back under the media type that the client named.
    ///
    /// A page made of them would be of this server's origin and could read all that is there. So a browser saves what it is
    /// led to, runs nothing of it, and takes it for nothing but the type it was sent under. Images, fonts and what script
    /// fetches come through as ever.
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

    /// Has no page show the response in a frame.
    public mutating func refuseFrames() {
        fields[.frameOptions] = "DENY"
        if fields[.contentSecurityPolicy] == nil { fields[.contentSecurityPolicy] = "frame-ancestors 'none'" }
    }

    /// Keeps the response from pages of other origins, and from doing anything as a page itself.
    ///
    /// A response that is meant to be a page brings a `Content-Security-Policy` of its own, which stays.
    public mutating func closeToPages() {
        // Nearly all responses that come here are JSON, and share their fields.
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
