/// The origins for which browsers show an answer to pages (Fetch standard, CORS protocol). Source: api; docs, release
/// notes of 2020.
enum OktaOrigins: Sendable {
    /// All.
    case any
    /// Those of the client's redirect URIs, and trusted ones.
    case ofClient
    /// Trusted ones, and all that send an access token.
    case trusted

    /// The paths behind the server's own part, with the methods that they have.
    private static let paths: [(ending: String, origins: OktaOrigins, methods: String)] = [
        ("/v1/token", .ofClient, "POST"), ("/v1/par", .ofClient, "POST"), ("/v1/keys", .any, "GET"),
        ("/v1/introspect", .trusted, "POST"), ("/v1/revoke", .trusted, "POST"),
        ("/v1/userinfo", .trusted, "GET, POST"), ("/v1/device/authorize", .trusted, "POST"),
        ("/.well-known/openid-configuration", .any, "GET"), ("/.well-known/oauth-authorization-server", .any, "GET"),
    ]

    /// What holds at a path; `nil` where browsers cannot make such calls.
    static func at(_ path: Substring) -> (origins: OktaOrigins, methods: String)? {
        if path.hasPrefix("/.well-known/oauth-authorization-server/") { return (.any, "GET") }
        return paths.first { path.hasSuffix($0.ending) }.map { ($0.origins, $0.methods) }
    }
}
