import Emulation
import HTTPTypes
import Wire

extension HTTPField.Name {
    private static let allowedMethods = Self("Access-Control-Allow-Methods") ?? .allow
    private static let allowedHeaders = Self("Access-Control-Allow-Headers") ?? .allow
    private static let allowedAge = Self("Access-Control-Max-Age") ?? .age

    /// What a browser is told before the call itself.
    fileprivate static let preflight: [(name: Self, value: String)] = [
        (allowedMethods, "GET, POST, OPTIONS"),
        // Spelled out, since * does not cover authorization (Fetch standard).
        (allowedHeaders, "authorization, content-type, if-none-match, x-understudy-sandbox"), (allowedAge, "600"),
    ]
}

/// What browsers ask for, by switch `cors` (ours: the vendor documents nothing, and its SDKs are no browsers).
extension Bloomreach {
    /// Lets a page of any origin read the answer. Only browsers name an origin.
    func allowOrigin(on response: inout Response, to request: Request, _ switches: () -> BloomreachSwitches) {
        guard request.fields.bytes(of: .origin) != nil, switches().cors == .on else { return }
        response.fields[.accessControlAllowOrigin] = "*"
        response.fields[.accessControlExposeHeaders] = "ETag, x-request-id"
    }

    /// Answers the question that a browser asks before the call itself, without a look at project and key.
    func unroutedAnswer(to request: Request, _ switches: () -> BloomreachSwitches) -> Response? {
        guard request.method == .options, request.fields.bytes(of: .origin) != nil, switches().cors == .on else {
            return nil
        }
        var response = Response.empty()
        for (name, value) in HTTPField.Name.preflight { response.fields[name] = value }
        return response
    }
}
