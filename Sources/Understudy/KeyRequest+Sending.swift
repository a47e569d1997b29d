package import Emulation
package import HTTPEngine
import HTTPTypes

extension KeyRequest {
    /// Whether the URL asks for TLS.
    package var isSecure: Bool { url.lowercased().hasPrefix("https:") }

    /// Sends the request to the server that the URL names, within the limits of a request for keys.
    ///
    /// - Parameters:
    ///   - trust: whose certificates are trusted over `https`.
    ///   - redirects: how many redirects are followed, all within the time of one request and never to another scheme:
    ///     keys that are asked for by TLS must come by TLS.
    ///   - limit: the time for everything, redirects included.
    package func send(
        trust: TLSTrust, following redirects: Int = 0, within limit: Duration = Self.timeLimit
    ) async -> KeyAnswer {
        let end = ContinuousClock.now + limit
        var (url, left) = (url, redirects)
        do throws(ClientError) {
            while true {
                let response = try await HTTPClient.send(
                    url: url, fields: fields, trust: trust, within: ContinuousClock.now.duration(to: end),
                    maximumBody: Self.longestBody)
                guard left > 0, let location = response.redirection else {
                    return .answered(
                        response.status, cacheControl: response.fields.values(of: .cacheControl), body: response.body)
                }
                guard let next = Self.target(of: location, from: url) else {
                    return .failed(.notAsked("\(url) redirects to \(location), which is not followed"))
                }
                (url, left) = (next, left - 1)
            }
        } catch {
            return .failed(KeyFetchProblem(error, within: limit))
        }
    }

    /// Where a redirect leads: a URL of the same scheme, or a path on the same server; `nil` otherwise (ours).
    private static func target(of location: String, from url: String) -> String? {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count > 2 else { return nil }
        let (scheme, authority) = (parts[0].lowercased(), parts[2].prefix { $0 != "?" })
        if location.lowercased().hasPrefix(scheme + "//") { return location }
        if location.hasPrefix("//") { return scheme + location }
        return location.hasPrefix("/") ? "\(scheme)//\(authority)\(location)" : nil
    }
}

extension ClientResponse {
    /// Where a redirect sends a GET (RFC 9110 section 15.4); `nil` for any other answer.
    fileprivate var redirection: String? {
        [301, 302, 303, 307, 308].contains(status.code) ? fields.values(of: .location).first : nil
    }
}

extension KeyFetchProblem {
    /// Why the client returned no answer.
    init(_ error: ClientError, within limit: Duration = KeyRequest.timeLimit) {
        self =
            switch error {
            case .timedOut: .slow(within: limit)
            case .tooLarge: .tooLarge
            case .connectionLost: .connectionLost
            case .invalidURL, .unknownHost, .notReachable, .notTrusted, .tlsFailed, .malformedAnswer, .tooMany,
                .cancelled:
                .unreachable(error.description)
            }
    }
}
