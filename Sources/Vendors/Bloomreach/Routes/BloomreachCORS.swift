import Emulation
import HTTPTypes
import Wire

extension HTTPField.Name {
    private static let allowedMethods = Self("Access-Control-Allow-Methods") ?? .allow
    private static let allowedHeaders = Self("Access-Control-Allow-Headers") ?? .allow
    private static let allowedAge = Self("Access-Control-Max-Age") ?? .age

    fileprivate static let preflight: [(name: Self, value: String)] = [
        (allowedMethods, "GET, POST, OPTIONS"),
        // Listed, since * does not cover authorization (Fetch standard).
        (allowedHeaders, "authorization, content-type, if-none-match, x-understudy-sandbox"), (allowedAge, "600"),
    ]
}

/// CORS for browsers, by switch `cors` (ours: the vendor documents nothing, and its SDKs are not browsers).
extension Bloomreach {
    /// Lets a page of any origin read the response. Only browsers send an origin.
    func allowOrigin(on response: inout Response, to request: Request, _ switches: () -> BloomreachSwitches) {
        guard request.fields.bytes(of: .origin) != nil, switches().cors else { return }
        response.fields[.accessControlAllowOrigin] = "*"
        response.fields[.accessControlExposeHeaders] = "ETag, x-request-id"
    }

    /// Answers a browser's preflight request without looking at project or key.
    func unroutedAnswer(to request: Request, _ switches: () -> BloomreachSwitches) -> Response? {
        guard request.method == .options, request.fields.bytes(of: .origin) != nil, switches().cors else {
            return nil
        }
        var response = Response.empty()
        for (name, value) in HTTPField.Name.preflight { response.fields[name] = value }
        return response
    }
}
