package import Emulation
import JSON
import Wire

extension VendorLoader {
    /// IMS, whose backend trusts the tokens of an app's own sign-in.
    package static let ims = VendorLoader(IMS.self)
}

/// IMS (DriveSync), a telematics backend behind a mobile SDK that receives the app's own RS256 tokens.
///
/// The vendor documents the token, how its keys are provided, the SDK's pre-check and the user lifecycle. It publishes
/// no path, body or status of its backend: those are one contract of Understudy's.
final class IMS: Vendor {
    typealias State = IMSState
    typealias Switches = IMSSwitches

    let accounts: IMSAccounts
    /// Made once: sandboxes share it until they change it.
    let initialState: IMSState
    let recentTokens = RecentReadings<IMSToken>()

    init(fixtures: VendorFixtures) throws(FixtureProblem) {
        accounts = try IMSAccounts(fixtures)
        initialState = IMSState(accounts)
    }

    static let identity = VendorIdentity(
        id: "ims", title: "IMS", prefixes: ["/ims"],
        // ours: bodies have a few hundred bytes, and a sandbox keeps their content. Trips and lists may be longer.
        bodyLimit: 64 * 1024, unreadFields: ["x-ims-", "x-ims-operator-key", "x-ims-device-id"])

    /// ours: an hour of points, a file of users, or a set of keys.
    private static let longBody = 1024 * 1024

    /// What lets a sender act as an operator or activate a user.
    private static let secrets: Set<String> = ["activation_code", "x-ims-operator-key"]

    /// The same, and what may hold a private key sent by mistake: PEM texts, and members of JWKs (RFC 7518 section 6).
    private static let keySecrets = secrets.union(["pem", "certs", "d", "p", "q", "dp", "dq", "qi", "oth", "k"])

    private static let forIssuers = group(access: .operator, evidence: .ours, source: "ours", secrets: keySecrets)
    private static let forUsers = group(access: .operator, evidence: .ours, source: "ours", secrets: secrets)
    private static let ofStates = group(
        access: .operator, evidence: .ours, source: "the states: site; the call ours", secrets: secrets)
    private static let ofUser = group(access: .user, evidence: .ours, source: "user information: site; the call ours")
    private static let ofTrips = group(
        access: .user, evidence: .ours, source: "that trips can be read is inferred from the site; the call ours")
    private static let ofInvitations = group(
        access: .user, evidence: .ours, source: "SDK call: site; the request ours")
    private static let open = group(access: .open, evidence: .ours, source: "ours")

    private static let issuers = "/ims/v1/issuers"
    private static let users = "/ims/v1/users"

    static let routes = [
        forIssuers.route(
            "issuers.create", .post(issuers), source: "onboarding: security page, Backend Setup; the call ours",
            bodyLimit: longBody / 4, handler: createIssuer),
        forIssuers.route("issuers.list", .get(issuers), handler: listIssuers),
        forIssuers.route("issuers.get", .get(issuers + "/{name}"), handler: readIssuer),
        forIssuers.route("issuers.replace", .put(issuers + "/{name}"), bodyLimit: longBody / 4, handler: replaceIssuer),
        forIssuers.route("issuers.refresh", .post(issuers + "/{name}/refresh"), handler: refreshIssuer),
        forIssuers.route("issuers.delete", .delete(issuers + "/{name}"), handler: deleteIssuer),

        forUsers.route(
            "users.enroll", .post(users), source: "enrollment: security page and site; the call ours",
            handler: enrollUser),
        forUsers.route(
            "users.import", .post(users + "/import"), source: "enrollment by file: site; the call ours",
            bodyLimit: longBody, handler: importUsers),
        forUsers.route("users.list", .get(users), handler: listUsers),
        forUsers.route("users.get", .get(users + "/{id}"), handler: readUser),
        ofStates.route("users.activate", .post(users + "/{id}/activate"), handler: activateUser),
        ofStates.route("users.deactivate", .post(users + "/{id}/deactivate"), handler: deactivateUser),
        forUsers.route("users.new-code", .post(users + "/{id}/activation-code"), handler: renewCode),

        Route(
            "activation.submit", .post("/ims/v1/activation"), access: .token, evidence: .ours,
            source: "activation through the SDK: site; the call ours", secrets: secrets, handler: submitActivation),
        ofUser.route("me.get", .get("/ims/v1/me"), handler: forUser(readMe)),
        ofUser.route("me.update", .patch("/ims/v1/me"), handler: forUser(updateMe)),
        ofUser.route(
            "trips.upload", .post("/ims/v1/trips"), source: "submitting trips: site; the call ours",
            bodyLimit: longBody, handler: forUser(uploadTrip)),
        ofTrips.route("trips.list", .get("/ims/v1/trips"), handler: forUser(listTrips)),
        ofTrips.route("trips.get", .get("/ims/v1/trips/{trip_id}"), handler: forUser(readTrip)),
        ofUser.route(
            "summary.get", .get("/ims/v1/driving-summary"), source: "portal section: site; the call ours",
            handler: forUser(readSummary)),
        ofInvitations.route("invitations.send", .post("/ims/v1/invitations"), handler: forUser(sendInvitation)),
        ofInvitations.route("invitations.list", .get("/ims/v1/invitations"), handler: forUser(listInvitations)),

        open.route(
            "dev-issuer.jwks", .get("/ims/dev-issuers/{name}/jwks.json"),
            .get("/ims/dev-issuers/{name}/.well-known/jwks.json"), handler: publishKeySet),
        open.route("dev-issuer.certs", .get("/ims/dev-issuers/{name}/certs"), handler: publishCertificates),
    ]
}

enum IMSAccess: Sendable {
    /// The operator key, which stands for the people who onboard and enroll.
    case `operator`
    /// A token of an issuer, whatever its `sub`.
    case token
    /// A token whose `sub` is an active user.
    case user
    case open
}

extension IMS {
    static func security(of access: IMSAccess) -> [[SecurityScheme]] {
        switch access {
        case .operator: [[.key("x-ims-operator-key")]]
        case .token, .user: [[.bearer]]
        case .open: []
        }
    }
}

typealias IMSCall = Call<IMS>

/// Configurable differences in IMS's behaviour; the real backend was never observed, so both profiles agree.
struct IMSSwitches: VendorSwitches {
    enum MissingNotBefore: String, CaseIterable { case refuse, accept }
    enum UnknownUser: String, CaseIterable { case refuse, adopt }
    enum OperatorAuth: String, CaseIterable { case key, open }

    /// `nil` when lifetimes are unlimited.
    var maximumLifetimeSeconds: Int?
    var notBeforeLeewaySeconds = 30
    var expiryLeewaySeconds = 0
    var missingNotBefore = MissingNotBefore.refuse
    var unknownUser = UnknownUser.refuse
    var operatorAuth = OperatorAuth.key
    var coolDownSeconds = 30
    var standardLifetimeSeconds = 600
    var nearExpirySeconds = 60
    /// Hosts that key URLs may name besides those of the fixtures and this machine, in lower case.
    var allowedHosts: [String] = []
    /// Hosts that may be asked for keys without TLS, in lower case.
    var allowedPlainHosts: [String] = []

    mutating func code(_ coder: inout SwitchCoder) {
        coder.limit(
            "max-lifetime-seconds", &maximumLifetimeSeconds,
            about: "how long a token may live from nbf or iat to exp, for issuers without a rule of their own",
            source: "security page: can enforce a maximum; 900 was the rule of an older page")
        coder.count(
            "not-before-leeway-seconds", &notBeforeLeewaySeconds, in: 0...600,
            about: "how long before nbf or iat a token is accepted, for issuers without a rule of their own",
            source: "ours")
        coder.count(
            "expiry-leeway-seconds", &expiryLeewaySeconds, in: 0...600,
            about: "how long after exp a token is accepted, for issuers without a rule of their own", source: "ours")
        coder.choice(
            "missing-not-before", &missingNotBefore, about: "what happens to tokens with neither nbf nor iat",
            source: "security page")
        coder.choice(
            "unknown-user", &unknownUser,
            about: "whether a valid token for an unknown sub enrolls and activates a user", source: "ours")
        coder.choice(
            "operator-auth", &operatorAuth, about: "whether onboarding and enrollment need the operator key",
            source: "ours")
        coder.count(
            "jwks-cooldown-seconds", &coolDownSeconds, in: 0...3600,
            about: "how long after an attempt to fetch keys the next one must wait", source: "ours")
        coder.count(
            "jwks-default-lifetime-seconds", &standardLifetimeSeconds, in: 30...86_400,
            about: "how long fetched keys live when the answer does not say", source: "ours")
        coder.count(
            "sdk-near-expiry-seconds", &nearExpirySeconds, in: 0...3600,
            about: "how long before exp the SDK asks for a new token",
            source: "security page: near expiry; the number ours")
        coder.hosts(
            "jwks-allow", &allowedHosts, about: "hosts that may be named in key URLs, separated by commas",
            source: "ours")
        coder.hosts(
            "jwks-allow-http", &allowedPlainHosts,
            about: "hosts from which keys may be fetched without TLS, separated by commas", source: "ours")
    }
}

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
