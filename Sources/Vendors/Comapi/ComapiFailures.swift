import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// Every failure of Comapi; `failures.yaml` defines the responses.
enum ComapiFailure: String, RouteFailure {
    case routeNotFound = "unknown-path"
    case methodNotAllowed = "method-not-allowed"
    case unknownSpace = "unknown-space"
    case malformedBody = "malformed-body"
    case missingField = "missing-field"
    case invalidParameter = "invalid-parameter"
    case unknownAuthentication = "unknown-authentication"
    case nonceReused = "nonce-reused"
    case nonceExpired = "nonce-expired"
    case malformedToken = "malformed-token"
    case unsupportedCriticalHeader = "unsupported-critical-header"
    case wrongAlgorithm = "wrong-algorithm"
    case secretHexDecoded = "secret-hex-decoded"
    case secretBase64Decoded = "secret-base64-decoded"
    case secretBase64Text = "secret-base64-text"
    case secretLatin1 = "secret-latin-1"
    case secretTrimmed = "secret-trimmed"
    case secretOfAnotherSpace = "secret-of-another-space"
    case badSignature = "bad-signature"
    case missingNonce = "missing-nonce"
    case nonceMismatch = "nonce-mismatch"
    case missingIssuer = "missing-issuer"
    case wrongIssuer = "wrong-issuer"
    case missingAudience = "missing-audience"
    case wrongAudience = "wrong-audience"
    case missingUserId = "missing-user-id"
    case missingExp = "missing-exp"
    case missingIat = "missing-iat"
    case malformedTime = "malformed-time"
    case millisecondsExp = "milliseconds-exp"
    case millisecondsIat = "milliseconds-iat"
    case expiredToken = "expired-token"
    case notYetValid = "not-yet-valid"
    case sessionMissing = "session-missing"
    case sessionMalformed = "session-malformed"
    case sessionOtherSpace = "session-other-space"
    case sessionForged = "session-forged"
    case sessionExpired = "session-expired"
    case sessionEnded = "session-ended"
    case sessionUnknown = "session-unknown"
    case unknownSession = "unknown-session"
    case unknownProfile = "unknown-profile"
    case unknownConversation = "unknown-conversation"
    case foreignSession = "foreign-session"
    case foreignProfile = "foreign-profile"
    case notAParticipant = "not-a-participant"
    case roleForbids = "role-forbids"
    case ownerOnly = "owner-only"
    case conversationExists = "conversation-exists"
    case etagMismatch = "etag-mismatch"
    case unknownContent = "unknown-content"
    case unknownPush = "unknown-push"
    case bodyTooLarge = "body-too-large"
    case upgradeRequired = "upgrade-required"
    case serverError = "server-error"
    case unavailable
}

/// Source: the shape of the answer is observed, Android SDK; the texts are ours.
extension Comapi: FieldDialect {
    static let fieldPolicy = FieldPolicy(tellsAll: true, nullIsAbsent: true, emptyIsAbsent: true)

    /// `missing-field` if anything is missing, else `invalid-parameter` (ours).
    static func refusal(of problems: [FieldProblem]) -> Refused {
        if let reason = problems[0].reason(expected: "JSON", whenEmpty: "is empty; expected JSON") {
            return Refused(.malformedBody, because: reason)
        }
        let listed = problems.prefix(FieldReader.mostProblems)
        let faults = listed.map { problem -> JSON in
            let message: JSON = problem.kind == .missing ? "is required" : "is not valid"
            return ["paramName": .string(problem.path), "message": message]
        }
        let isMissing = problems.contains { $0.kind == .missing }
        return Refused(
            isMissing ? .missingField : .invalidParameter, ["faults": .array(faults)],
            because: listed.map { "\($0.path) \(why($0))" }.joined(separator: "; "))
    }

    private static func why(_ problem: FieldProblem) -> String {
        let found = problem.found
        let shown = "is “\((found?.string ?? "").prefix(40))”"
        switch problem.kind {
        case .missing:
            guard let found else { return "was not sent; expected it" }
            return found.isNull ? "is null; expected a value" : "is an empty \(found.typeName); expected a value"
        case .noChoice(let choices):
            return "\(shown); expected \(choices.dropLast().joined(separator: ", ")) or \(choices.last ?? "")"
        case .noTime:
            if let remark = NumericDate(found).dateRemark { return remark }
            return found?.string == nil ? problem.typeMismatch : "\(shown); expected an RFC 3339 date"
        case .wrongValue: return "\(shown); expected \(problem.expected)"
        case .other(let reason): return reason
        case .wrongType, .tooShort, .tooLong, .unknown, .notJSON, .otherContent: return problem.typeMismatch
        }
    }
}

extension Call<Comapi> {
    mutating func note(_ name: String, _ note: String, found: Fact? = nil, source: String? = "ours") {
        findings.note(name, found: found, note: note, source: source)
    }

    /// The record that the path names by its parameter `kind`.
    func named<Record>(
        _ kind: String, in table: RecordTable<Record>, orFail failure: ComapiFailure
    ) throws(Comapi.Refused) -> Record where Record.Key == ComapiID {
        let id = ComapiID(parameters[kind])
        return try Comapi.Refused.require(
            table[id], failure,
            "no \(kind) of the space has the id \(id.text); expected that of an existing one"
                + Nearest.slip(id.text, among: table.keys.prefix(1000).lazy.map(\.text)))
    }

    /// Rejects the request if `If-Match` is present and names another tag.
    func checkPrecondition(_ current: String) throws(Comapi.Refused) {
        guard request.fields.count(of: .ifMatch) > 0 else { return }
        let wanted = request.fields.elements(of: .ifMatch)
        if wanted.contains(where: { $0 == "*" || $0.hasSameBytes(as: current) }) { return }
        let bare = current.replacing("\"", with: "")
        let hint = wanted.contains { $0.hasSameBytes(as: bare) } ? "; only the quotes are missing" : ""
        throw Refused(
            .etagMismatch,
            because: "If-Match is \(wanted.joined(separator: ", ").prefix(200)), not the current tag \(current)\(hint)")
    }
}

extension JSON {
    /// The tag of a resource (ours): 16 hexadecimal digits of the SHA-256 of its sorted members, in quotes.
    var entityTag: String { "\"\(Hexadecimal.encode(Array(Digest.sha256(sorted.bytes).prefix(8))))\"" }

    private var sorted: JSON {
        switch self {
        case .object(let object):
            let members = object.map { (ComapiID($0.name), $0.value.sorted) }.sorted { $0.0 < $1.0 }
            return .object(JSONObject(members.map { ($0.0.text, $0.1) }))
        case .array(let elements): return .array(elements.map(\.sorted))
        case .null, .bool, .number, .string: return self
        }
    }
}

extension Reply {
    static func tagged(_ value: JSON, _ tag: String, status: HTTPResponse.Status = .ok) -> Reply {
        .respond(.json(value, status: status).with(.eTag, tag))
    }
}
