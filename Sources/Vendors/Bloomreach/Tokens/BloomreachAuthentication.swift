import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// Who sent a request, as far as it says.
struct BloomreachCredentials: Sendable {
    /// The project that is addressed, or whose data the addressed stream uses.
    var project: BloomreachProject?
    /// The stream that is addressed.
    var stream: BloomreachStream?
    /// What was presented; `nil` for nothing, or nothing that could be read.
    var kind: BloomreachCredentialKind?
    /// The public key that was presented, if the project has it.
    var publicKey: BloomreachPublicKey?
    /// The token that was presented.
    var token: BloomreachToken?

    /// Whether the path is one of a stream.
    var isStream: Bool { stream != nil }
}

// MARK: - Steps 1 to 8 of the vendor's order: all that needs neither body nor state

extension Bloomreach {
    func claims(of credentials: BloomreachCredentials) -> JSONObject? { credentials.token?.compact.claims }

    func authenticate(
        _ arrival: BloomreachArrival, _ findings: inout Findings<BloomreachFailure>
    ) -> BloomreachCredentials {
        var credentials = BloomreachCredentials()
        judgeOffer(arrival, &findings)
        judgeCoding(arrival, &findings)
        if arrival.route.access.openness == .open { return credentials }
        let address = BloomreachAddress(arrival)
        judge(address, &credentials, &findings)
        let authorization = BloomreachAuthorization(arrival.request)
        guard judgePresence(of: authorization, at: address, arrival, &findings) else { return credentials }
        credentials.kind = authorization.kind(isStream: address.isStream)
        judgeKind(of: credentials, at: address, arrival, &findings)
        judge(authorization, at: address, &credentials, arrival, &findings)
        judgePermission(of: credentials, arrival.route.access, &findings)
        return credentials
    }

    /// Step 1: switches take the call of the example apps away, and POST from the consents.
    private func judgeOffer(_ arrival: BloomreachArrival, _ findings: inout Findings<BloomreachFailure>) {
        let isMint = arrival.route.id == "mint.customer-token"
        if isMint, arrival.switches.mintEndpoint == .off {
            findings.add(
                Finding(
                    "route-offered", .failed, expected: .text("mint-endpoint: on"), found: .text("mint-endpoint: off"),
                    source: "example apps; switch mint-endpoint"),
                orFail: .unknownRoute)
        }
        let isConsents = arrival.route.id == "consents.list" && arrival.request.method == .post
        if isConsents, arrival.switches.consentsMethod == .getOnly {
            findings.add(
                Finding(
                    "method", .failed, expected: .text("GET"), found: .text("POST"),
                    source: "both SDKs; switch consents-method"),
                orFail: .methodNotAllowed)
        }
    }

    /// Step 3: the content is not compressed.
    private func judgeCoding(_ arrival: BloomreachArrival, _ findings: inout Findings<BloomreachFailure>) {
        guard let coding = arrival.request.fields[.contentEncoding] else { return }
        let isPlain = coding.lowercased() == "identity" || coding.isEmpty
        findings.add(
            Finding(
                "content-coding", isPlain ? .passed : .failed, expected: .text("identity"), found: .text(coding),
                source: "reference page on common API issues"),
            orFail: .compressedBody)
    }

    /// Step 4: the project or the stream exists.
    private func judge(
        _ address: BloomreachAddress, _ credentials: inout BloomreachCredentials,
        _ findings: inout Findings<BloomreachFailure>
    ) {
        let isWellFormed = BloomreachAddress.isWellFormed(address.text)
        findings.add(
            Finding(
                "project-id", isWellFormed ? .passed : .failed, expected: .text("letters, digits and -"),
                found: .text(address.text), source: "both SDKs; reference page on authorization errors"),
            orFail: .invalidProjectID)
        switch address {
        case .project(let token): credentials.project = accounts.project(token)
        case .stream(let id):
            credentials.stream = accounts.stream(id)
            credentials.project = credentials.stream?.project
        }
        findings.add(
            Finding(
                "project-known", !isWellFormed ? .notJudged : credentials.project == nil ? .failed : .passed,
                expected: .text(address.isStream ? "the id of a stream" : "the token of a project"),
                found: .text(address.text),
                note: isWellFormed && credentials.project == nil ? accounts.stranger(at: address) : nil,
                source: "reference page on authorization errors; stream inferred"),
            orFail: .unknownProject)
    }

    /// Step 5: a credential is there and can be read.
    ///
    /// - Returns: whether there is one to go on with.
    private func judgePresence(
        of authorization: BloomreachAuthorization, at address: BloomreachAddress, _ arrival: BloomreachArrival,
        _ findings: inout Findings<BloomreachFailure>
    ) -> Bool {
        switch authorization {
        case .absent:
            let isNeeded =
                address.isStream
                ? needsToken(arrival, accounts.stream(address.text))
                : arrival.route.access.openness == .closed
            findings.add(
                Finding(
                    "credential-present", isNeeded ? .failed : .passed,
                    expected: isNeeded ? .text("Authorization") : .text("Authorization, or nothing"), found: .absent,
                    source: "reference page on authorization errors; streams ours"),
                orFail: address.isStream ? .streamTokenMissing : .missingAuthorization)
            return false
        case .malformed(let found):
            addSeveralLines(arrival, &findings, orFail: .malformedAuthorization)
            findings.add(
                Finding(
                    "credential-form", .failed, expected: .text("Token KEY, Bearer JWT or Basic ID:SECRET in base64"),
                    found: .text(found), source: "ours"),
                orFail: .malformedAuthorization)
            return false
        case .publicKey, .privateKey, .token:
            findings.add(
                Finding("credential-form", .passed, source: "seed; reference page on authentication"),
                orFail: .malformedAuthorization)
            return true
        }
    }

    /// Tells of credentials in several lines, which were read as one value.
    private func addSeveralLines(
        _ arrival: BloomreachArrival, _ findings: inout Findings<BloomreachFailure>, orFail failure: BloomreachFailure
    ) {
        guard let lines = BearerToken.severalLines(in: arrival.request.fields) else { return }
        findings.add(lines, orFail: failure)
    }

    /// Whether a call to a stream needs a token.
    private func needsToken(_ arrival: BloomreachArrival, _ stream: BloomreachStream?) -> Bool {
        arrival.route.access.alwaysNeedsStreamToken
            || (stream?.requireJWT ?? arrival.switches.requireJWT) == .all
    }

    /// Step 6: the kind is taken on this route.
    private func judgeKind(
        of credentials: BloomreachCredentials, at address: BloomreachAddress, _ arrival: BloomreachArrival,
        _ findings: inout Findings<BloomreachFailure>
    ) {
        let access = arrival.route.access
        var accepted = address.isStream ? [.streamToken] : access.accepted
        if arrival.route.id == "data.attributes", arrival.switches.attributesAccess == .private {
            accepted.remove(.publicKey)
        }
        let isAccepted = credentials.kind.map(accepted.contains) ?? false
        findings.add(
            Finding(
                "credential-kind", isAccepted ? .passed : .failed,
                expected: .anyOf(accepted.map(\.rawValue).sorted()),
                found: credentials.kind.map { .text($0.rawValue) }, source: "seed; permission matrix, rest ours"),
            orFail: .credentialNotAccepted)
        guard access.isAppInbox, !address.isStream else { return }
        let wanted = credentials.project?.appInboxAuth ?? arrival.switches.appInboxAuth
        findings.add(
            Finding(
                "app-inbox-auth", wanted == .advanced && credentials.kind == .publicKey ? .failed : .passed,
                expected: .text(wanted == .advanced ? "a customer token" : "a public key or a customer token"),
                found: credentials.kind.map { .text($0.rawValue) },
                source: "reference page of the app inbox; switch app-inbox-auth"),
            orFail: .customerTokenRequired)
    }

    /// Step 7: the credential is right.
    private func judge(
        _ authorization: BloomreachAuthorization, at address: BloomreachAddress,
        _ credentials: inout BloomreachCredentials, _ arrival: BloomreachArrival,
        _ findings: inout Findings<BloomreachFailure>
    ) {
        switch authorization {
        case .publicKey(let key):
            guard let project = credentials.project, !address.isStream else { return }
            addSeveralLines(arrival, &findings, orFail: .unknownKey)
            credentials.publicKey = project.publicKey(key)
            findings.add(
                Finding(
                    "public-key", credentials.publicKey == nil ? .failed : .passed,
                    expected: .text("a public key of \(project.token)"),
                    found: .text(credentials.publicKey == nil ? accounts.owner(ofPublicKey: key) : key),
                    source: "tests of the Python client; status inferred"),
                orFail: .unknownKey)
        case .privateKey(let id, let secret):
            guard let project = credentials.project, !address.isStream else { return }
            judgePrivateKey(id, secret, of: project, &findings)
        case .token(let bytes):
            if let oddity = BearerToken(arrival.request.fields).oddity() {
                findings.add(oddity, orFail: address.isStream ? .streamTokenMalformed : .customerTokenMalformed)
            }
            let token = recentTokens.reading(of: bytes, BloomreachToken.init(bytes:))
            credentials.token = token
            if let stream = credentials.stream {
                judge(streamToken: token, of: stream, at: arrival.moment, arrival.switches, &findings)
            } else if let project = credentials.project {
                judge(customerToken: token, of: project, at: arrival.moment, arrival.switches, &findings)
            }
        case .absent, .malformed: break
        }
    }

    private func judgePrivateKey(
        _ id: String, _ secret: String, of project: BloomreachProject,
        _ findings: inout Findings<BloomreachFailure>
    ) {
        let key = project.privateKey(id)
        findings.add(
            Finding(
                "private-key", key == nil ? .failed : .passed,
                expected: .text("the id of a private key of \(project.token)"),
                found: .text(key == nil ? accounts.owner(ofPrivateKey: id) : id),
                source: "tests of the Python client; status inferred"),
            orFail: .unknownKey)
        findings.add(
            Finding(
                "private-key-secret",
                key.map { $0.text.hasSameBytes(as: secret) ? .passed : .failed } ?? .notJudged,
                expected: .text(key == nil ? "the secret of the key" : "the secret of private key \(id)"),
                found: key.flatMap { $0.text.hasSameBytes(as: secret) ? nil : accounts.shown(secret: secret) },
                source: "ours"),
            orFail: .wrongSecret)
    }

    /// Step 8: the public key may use the route. Of a batch each command is judged by itself.
    private func judgePermission(
        of credentials: BloomreachCredentials, _ access: BloomreachAccess,
        _ findings: inout Findings<BloomreachFailure>
    ) {
        guard let key = credentials.publicKey, let permission = access.permission else { return }
        findings.add(
            Finding(
                "permission", key.permissions.contains(permission) ? .passed : .failed,
                expected: .text(permission.rawValue), found: .anyOf(key.permissions.map(\.rawValue).sorted()),
                source: "reference page on API access of the mobile SDKs; names ours"),
            orFail: .noPermission)
    }
}
