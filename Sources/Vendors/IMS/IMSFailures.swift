import Emulation
import JSON

/// Every failure of IMS; `failures.yaml` defines how each looks.
enum IMSFailure: String, RouteFailure {
    case tokenMissing = "token-missing"
    case tokenMalformed = "token-malformed"
    case algNotAllowed = "alg-not-allowed"
    case typNotAllowed = "typ-not-allowed"
    case issuerUnknown = "issuer-unknown"
    case kidRequired = "kid-required"
    case kidUnknown = "kid-unknown"
    case keysUnavailable = "keys-unavailable"
    case certificateExpired = "certificate-expired"
    case signatureInvalid = "signature-invalid"
    case claimMissing = "claim-missing"
    case claimInvalid = "claim-invalid"
    case tokenExpired = "token-expired"
    case tokenNotYetValid = "token-not-yet-valid"
    case lifetimeTooLong = "lifetime-too-long"
    case audienceMismatch = "audience-mismatch"
    case tokenUseMismatch = "token-use-mismatch"
    case jtiMissing = "jti-missing"
    case tokenReplayed = "token-replayed"
    case userUnknown = "user-unknown"
    case userNotActive = "user-not-active"
    case userDeactivated = "user-deactivated"
    case activationUnknown = "activation-unknown"
    case activationEmailMismatch = "activation-email-mismatch"
    case activationCodeWrong = "activation-code-wrong"
    case activationCodeUsed = "activation-code-used"
    case activationCodeExpired = "activation-code-expired"
    case subjectMismatch = "subject-mismatch"
    case subjectTaken = "subject-taken"
    case operatorKeyMissing = "operator-key-missing"
    case operatorKeyWrong = "operator-key-wrong"
    case issuerExists = "issuer-exists"
    case issuerNotFound = "issuer-not-found"
    case userNotFound = "user-not-found"
    case tripNotFound = "trip-not-found"
    case keySourceInvalid = "key-source-invalid"
    case privateKeyRefused = "private-key-refused"
    case jwksURLNotAllowed = "jwks-url-not-allowed"
    case jwksFetchFailed = "jwks-fetch-failed"
    case enrollmentExists = "enrollment-exists"
    case stateConflict = "state-conflict"
    case tripConflict = "trip-conflict"
    case bodyMalformed = "body-malformed"
    case bodyInvalid = "body-invalid"
    case bodyTooLarge = "body-too-large"
    case routeNotFound = "route-not-found"
    case methodNotAllowed = "method-not-allowed"
    case rateLimited = "rate-limited"
    case serviceUnavailable = "service-unavailable"
}

typealias IMSBody = Fields<IMS>

extension IMSBody {
    /// ours: the limit for texts that a sandbox keeps, in Unicode scalars.
    static var longestText: Int { 255 }
}

extension IMS: FieldDialect {
    static let fieldPolicy = FieldPolicy(textLengths: 1...IMSBody.longestText, indexSigns: (".", ""))

    /// The first wrong field decides, and the answer names its path.
    static func refusal(of problems: [FieldProblem]) -> Refused {
        let problem = problems[0]
        if let reason = problem.reason(of: "the content", expected: "an object", whenEmpty: nil) {
            return Refused(.bodyMalformed, because: reason)
        }
        let place = problem.isInQuery ? "\(problem.path) in the query" : problem.path
        return Refused(.bodyInvalid, ["field": .string(problem.path)], because: "\(place) \(why(problem))")
    }

    private static func why(_ problem: FieldProblem) -> String {
        let found = problem.found ?? .null
        let shown = problem.isInQuery ? "“\(found.string ?? "")”" : shown(found)
        return switch problem.kind {
        case .missing: "was not sent; expected it"
        case .wrongType where problem.list != nil: "is not an object"
        case .wrongType where problem.expected == "a boolean":
            "is \(shown), a JSON \(found.typeName); expected true or false"
        case .noChoice(let choices) where problem.isInQuery:
            "is \(shown); expected one of \(choices.joined(separator: ", "))"
        case .noChoice(let choices):
            "is not one of \(choices.joined(separator: ", ")); expected one of them, found \(shown)"
                + (Nearest.names(to: found.string ?? "", among: choices).first.map { "; did you mean “\($0)”?" } ?? "")
        case .noTime: RFC3339Time.refusal(of: found)
        case .tooShort(let minimum): "is an empty text; expected at least \(minimum) character"
        case .tooLong(let maximum):
            "has \(found.string?.unicodeScalars.count ?? 0) characters; expected at most \(maximum)"
        case .unknown(let name, let known): "is unknown\(Nearest.hint(to: name, among: known))"
        case .wrongValue: "is \(shown); expected \(problem.expected)"
        case .other(let reason): reason
        case .wrongType, .notJSON, .otherContent: problem.typeMismatch
        }
    }

    /// A readable form of a value, cut when long.
    fileprivate static func shown(_ value: JSON) -> String {
        let text = value.string.map { $0.isEmpty ? "an empty text" : "“\($0)”" } ?? value.text
        return text.count > 60 ? text.prefix(60) + "…" : text
    }
}

extension FieldReader {
    /// A required text of 1 to 40 lowercase letters, digits and hyphens.
    mutating func name(_ name: String) -> String {
        let text = text(name)
        guard text.utf8.count <= 40,
            text.utf8.allSatisfy({ $0.isLowercase || $0.isDigit || $0 == UInt8(ascii: "-") })
        else {
            let found = IMS.shown(.string(text))
            refuse(name, "is not made of 1 to 40 of a-z, 0-9 and -; expected that, found \(found)")
            return ""
        }
        return text
    }

    /// An email address: anything with an `@` (ours).
    mutating func email(_ name: String) -> String? {
        guard let text = optionalText(name), !text.isEmpty else { return nil }
        if !text.utf8.contains(UInt8(ascii: "@")) {
            report(name, .wrongValue, expected: "an address with @", found: .string(text))
        }
        return text
    }

    /// A required time in the text form of RFC 3339.
    mutating func time(_ name: String) -> RFC3339Time { time(name, isRequired: true, RFC3339Time.init) ?? .epoch }
}
