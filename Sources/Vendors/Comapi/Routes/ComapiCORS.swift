import Emulation
import HTTPTypes
import JSON
import Wire

extension HTTPField.Name {
    fileprivate static let allowedMethods = Self("Access-Control-Allow-Methods") ?? .allow
    fileprivate static let allowedHeaders = Self("Access-Control-Allow-Headers") ?? .allow
    fileprivate static let allowedAge = Self("Access-Control-Max-Age") ?? .age
}

/// CORS for browsers. Without these fields a browser hides the response from the page (observed, JS SDK).
extension Comapi {
    func finish(
        _ response: inout Response, to request: Request, _ identifiers: IdentifierSource,
        _ switches: () -> ComapiSwitches
    ) {
        response.fields[.accessControlAllowOrigin] = "*"
        // Otherwise the JS SDK never sees a tag, and never sends If-Match (observed).
        response.fields[.accessControlExposeHeaders] = "ETag"
        if response.fields[.contentType]?.hasPrefix("application/json") == true, response.fields[.cacheControl] == nil,
            response.fields[.xContentTypeOptions] == nil
        {
            response.fields[.cacheControl] = "no-store"
        }
    }

    /// Answers a browser's preflight request without a token and without looking at the space.
    static func preflight(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        var response = Response.empty()
        response.fields[.allowedMethods] = "GET, POST, PUT, PATCH, DELETE, OPTIONS"
        // Listed, since * does not cover authorization (Fetch standard).
        response.fields[.allowedHeaders] =
            "authorization, cache-control, content-type, content-filename, if-match, if-modified-since, pragma, "
            + "x-understudy-sandbox"
        response.fields[.allowedAge] = "600"
        return .respond(response)
    }
}
