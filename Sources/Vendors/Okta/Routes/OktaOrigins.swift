/// The origins for which browsers show an answer to pages (Fetch standard, CORS protocol). Source: api; docs, release
/// notes of 2020. That authn has it: inferred from authjs, which signs in by it in pages.
enum OktaOrigins: Sendable {
    case any
    /// Those of the client's redirect URIs, and trusted ones.
    case ofClient
    /// Trusted ones, and all that send an access token.
    case trusted
    /// Trusted ones, whatever is sent.
    case trustedAlone

    /// The paths at which browsers can make such calls, with the methods that they have.
    static let paths: [(patterns: [String], origins: OktaOrigins, methods: String)] = [
        (both("token"), .ofClient, "POST"), (both("par"), .ofClient, "POST"), (both("keys"), .any, "GET"),
        (both("introspect"), .trusted, "POST"), (both("revoke"), .trusted, "POST"),
        (both("userinfo"), .trusted, "GET, POST"), (both("device/authorize"), .trusted, "POST"),
        (
            [
                "/.well-known/openid-configuration", "/oauth2/{server}/.well-known/openid-configuration",
                "/.well-known/oauth-authorization-server",
                "/.well-known/oauth-authorization-server/oauth2/{server}",
                "/oauth2/{server}/.well-known/oauth-authorization-server",
            ], .any, "GET"
        ),
        (["/api/v1/authn"], .trustedAlone, "POST"), (["/api/v1/users"], .trusted, "GET, POST"),
        (["/api/v1/users/{user}"], .trusted, "GET"), (["/api/v1/users/{user}/sessions"], .trusted, "DELETE"),
        (["/api/v1/users/{user}/lifecycle/{step}"], .trusted, "POST"),
    ]

    private static func both(_ path: String) -> [String] { ["/oauth2/v1/" + path, "/oauth2/{server}/v1/" + path] }

    /// What holds at a path; `nil` where browsers cannot make such calls.
    static func at(_ path: Substring) -> (origins: OktaOrigins, methods: String)? {
        let (slash, brace) = (UInt8(ascii: "/"), UInt8(ascii: "{"))
        let segments = path.utf8.split(separator: slash)
        func fits(_ pattern: String) -> Bool {
            pattern.utf8.split(separator: slash).elementsEqual(segments) { $0.first == brace || $0.elementsEqual($1) }
        }
        return paths.first { $0.patterns.contains(where: fits) }.map { ($0.origins, $0.methods) }
    }

    /// Whether a page may make a call, as far as can be told without its client.
    func admits(isTrusted: Bool, sendsToken: Bool) -> Bool {
        switch self {
        case .any, .ofClient: true
        case .trusted: isTrusted || sendsToken
        case .trustedAlone: isTrusted
        }
    }
}
