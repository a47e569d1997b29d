import Emulation
import HTTPTypes
import JSON
import Wire

/// Why a control call, or a request that reaches no vendor, is refused; in a neutral format, independent of vendors.
struct ControlProblem: Error {
    let status: HTTPResponse.Status
    /// A stable kebab-case name.
    let code: String
    /// What was found and what would be right.
    let message: String

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    /// The refusal of a value: what was found and what would be right.
    static func invalid(_ message: String) -> ControlProblem { ControlProblem(.badRequest, "invalid", message) }

    /// `{"error":{"code":…,"message":…}}`.
    var response: Response {
        .json(["error": ["code": .string(code), "message": .string(message)]], status: status)
    }
}

extension Response {
    /// The response with the secrets in its content hidden.
    func masked(by redactor: Redactor) -> Response {
        var response = self
        response.body = redactor.answer(body)
        return response
    }
}
