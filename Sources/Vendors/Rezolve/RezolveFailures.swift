import Emulation
import JSON

/// Every failure of Rezolve and of its sample sign-in server RUA; `failures.yaml` defines how each looks.
enum RezolveFailure: String, RouteFailure {
    case maskedAPIKey = "masked-api-key"
    case maskedNoAuthKey = "masked-no-auth-key"
    case maskedTokenMissing = "masked-token-missing"
    case maskedSignature = "masked-signature"
    case maskedMissingFields = "masked-missing-fields"
    case maskedOtherUser = "masked-other-user"
    case maskedDeviceMismatch = "masked-device-mismatch"
    case tokenLifetimeTooLong = "token-lifetime-too-long"
    case tokenExpired = "token-expired"
    case maskedNotYetValid = "masked-not-yet-valid"
    case registrationDuplicate = "registration-duplicate"
    case bodyMalformed = "body-malformed"
    case bodyMissingFields = "body-missing-fields"
    case bodyWrongType = "body-wrong-type"
    case bodyTooShort = "body-too-short"
    case phoneNotFound = "phone-not-found"
    case addressNotFound = "address-not-found"
    case cardNotFound = "card-not-found"
    case addressInUse = "address-in-use"
    case phoneInUse = "phone-in-use"
    case routeNotFound = "route-not-found"
    case routeNotOffered = "route-not-offered"
    case bodyTooLarge = "body-too-large"
    case serviceUnavailable = "service-unavailable"
    case ruaAPIKeyMissing = "rua-api-key-missing"
    case ruaAPIKeyWrong = "rua-api-key-wrong"
    case ruaNoAuthKey = "rua-no-auth-key"
    case ruaWrongCredentials = "rua-wrong-credentials"
    case ruaTokenMissing = "rua-token-missing"
    case ruaTokenInvalid = "rua-token-invalid"
    case ruaTokenExpired = "rua-token-expired"
    case ruaUserExists = "rua-user-exists"
    case ruaUserNotFound = "rua-user-not-found"
    case ruaWrongPassword = "rua-wrong-password"
    case ruaConfirmCodeWrong = "rua-confirm-code-wrong"
    case ruaBodyInvalid = "rua-body-invalid"

    /// A known path with another method answers 404, never 405 (observed).
    static let methodNotAllowed = routeNotFound
}

extension Rezolve: FieldDialect {
    static let fieldPolicy = FieldPolicy(tellsAll: true)

    /// Missing members decide first, then wrong types, then short texts.
    static func refusal(of problems: [FieldProblem]) -> Refused {
        if let reason = problems[0].reason() { return Refused(.bodyMalformed, because: reason) }
        let missing = problems.filter { $0.kind == .missing }.map(\.path)
        let failure: RezolveFailure =
            !missing.isEmpty
            ? .bodyMissingFields : problems.contains { $0.kind == .wrongType } ? .bodyWrongType : .bodyTooShort
        return Refused(
            failure,
            [
                "missing": .string(missing.joined(separator: ", ")),
                "validation": .string(validation(of: problems, missing)),
            ], because: problems.reason)
    }

    /// The list of complaints in the staging servers' wording. Source: observed, QA tests.
    private static func validation(of problems: [FieldProblem], _ missing: [String]) -> String {
        var items: [String] = []
        if !missing.isEmpty {
            let (noun, verb) = missing.count == 1 ? ("property", "was") : ("properties", "were")
            items.append("Required \(noun) \(missing.joined(separator: ", ")) \(verb) not present. - #")
        }
        for problem in problems.sorted(by: { $0.path < $1.path }) {
            if case .tooShort(let minimum) = problem.kind {
                let length = problem.found?.string?.count ?? 0
                items.append(
                    "Expected value to have a minimum length of \(minimum) but was \(length). - #/\(problem.path)")
            } else if problem.kind == .wrongType, let expected = problem.expected.split(separator: " ").last {
                let found = problem.found?.typeName ?? ""
                items.append(
                    "Type mismatch. Expected \(expected.capitalized) but got \(found.capitalized). - #/\(problem.path)")
            }
        }
        return "[\(items.joined(separator: ", "))]"
    }
}

/// How RUA reads bodies: with one failure for all mistakes.
enum RUA: FieldDialect {
    static let fieldPolicy = Rezolve.fieldPolicy

    static func refusal(of problems: [FieldProblem]) -> Rezolve.Refused {
        Rezolve.Refused(.ruaBodyInvalid, because: problems[0].reason() ?? problems.reason)
    }
}

extension [FieldProblem] {
    /// A readable reason for all problems: missing members together, then the others.
    fileprivate var reason: String {
        let names = filter { $0.kind == .missing }.map(\.path)
        guard names.count > 1 else { return map(\.description).joined(separator: "; ") }
        let missing = "there are no members \(names.joined(separator: ", ")); expected a string each"
        return ([missing] + filter { $0.kind != .missing }.map(\.description)).joined(separator: "; ")
    }
}

extension StringProtocol {
    fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}
