import Emulation
import JSON
import Tokens
import Wire

extension Bloomreach {
    static let tokenKinds = [
        TokenKind(
            name: "customer-token", about: "speaks for one customer of a project, as an app's own backend signs it",
            members: [
                ("project", "token of the project whose private key signs; by default the first one with a key"),
                ("key", "id of that key; by default the first one"),
                (
                    "customer",
                    "the customer's registered id; by default that of the project's first customer who has one"
                ),
                ("expires_in", "seconds from now to exp; by default 3600"),
            ], defects: BloomreachDefect.names(of: .customerToken)),
        TokenKind(
            name: "stream-token", about: "speaks for one customer on the paths of a stream",
            members: [
                ("stream", "id of the stream whose signing key signs; by default the first one with a key"),
                ("key", "id of that key; by default the first one"),
                ("customer", "the customer's registered id; by default that of the first customer who has one"),
                ("expires_in", "seconds from now to exp; by default 900"),
            ], defects: BloomreachDefect.names(of: .streamToken)),
    ]

    func mint(_ order: inout MintRequest, in setting: TokenSetting<Bloomreach>) throws(ControlRefusal) -> String {
        let isStream = order.kind == "stream-token"
        let signer = if isStream { try streamSigner(&order) } else { try projectSigner(&order) }
        let named = try order.string("customer")
        if named?.isEmpty == true { throw ControlRefusal("customer is empty; expected a registered id") }
        let registered = if let named { named } else { try firstCustomer(of: signer.project, in: setting.state) }
        let lifetime = try order.int("expires_in").map { Duration.seconds($0) }
        let expiry = JSON((setting.moment + (lifetime ?? (isStream ? .seconds(900) : Self.tokenLifetime))).wholeSeconds)
        let ids: JSON = [BloomreachID.registered: .string(registered)]
        let draft: TokenDraft =
            isStream
            ? .streamToken(key: signer.key, ids: ids, expiry: expiry)
            : .customerToken(key: signer.key, subject: ids, expiry: expiry)
        let rules = isStream ? BloomreachTokenFamily.streamToken : .customerToken
        return try order.mint(
            UnsignedToken(draft, key: signer.key.signing, algorithm: rules.algorithm), at: setting.moment,
            own: { BloomreachDefect($0, rules) }
        ) { (defect, token) throws(ControlRefusal) in try defect.apply(to: &token, of: signer.stream, in: accounts) }
    }

    /// The signer, and the project whose customers the token speaks for.
    struct Signer {
        let project: BloomreachProject
        let stream: BloomreachStream?
        let key: BloomreachSigningKey
    }

    private func projectSigner(_ order: inout MintRequest) throws(ControlRefusal) -> Signer {
        let project = try accounts.project(named: try order.string("project")) { !$0.privateKeys.isEmpty }
        let key = try Self.key(try order.string("key"), among: project.privateKeys, of: "project \(project.token)")
        return Signer(project: project, stream: nil, key: key)
    }

    private func streamSigner(_ order: inout MintRequest) throws(ControlRefusal) -> Signer {
        let id = try order.string("stream")
        let stream: BloomreachStream = try ControlRefusal.require(
            id.map(accounts.stream) ?? accounts.streams.first { !$0.signingKeys.isEmpty }, "no stream has the id",
            id ?? "", among: accounts.streams.map(\.id))
        let key = try Self.key(try order.string("key"), among: stream.signingKeys, of: "stream \(stream.id)")
        return Signer(project: stream.project, stream: stream, key: key)
    }

    private static func key(
        _ id: String?, among keys: [BloomreachSigningKey], of owner: String
    ) throws(ControlRefusal) -> BloomreachSigningKey {
        try ControlRefusal.require(
            id.map { id in keys.first { $0.id.hasSameBytes(as: id) } } ?? keys.first, "\(owner) has no key",
            id ?? "to sign with", among: keys.map(\.id))
    }

    private func firstCustomer(of project: BloomreachProject, in state: State) throws(ControlRefusal) -> String {
        let registered = state.customers(of: project).all.lazy.compactMap { $0.ids[BloomreachID.registered] }.first
        return try ControlRefusal.require(
            registered, "no customer of \(project.token) has a registered id; name one with the member customer")
    }

    /// Apps' backends sign with secrets shared with Bloomreach; there are no published keys.
    var sharedSecrets: [SharedSecret] {
        accounts.projects.flatMap { project in
            project.privateKeys.map {
                SharedSecret(owner: "project \(project.token), key \($0.id)", algorithm: .hs256, key: $0.signing)
            }
        }
            + accounts.streams.flatMap { stream in
                stream.signingKeys.map {
                    SharedSecret(owner: "stream \(stream.id), key \($0.id)", algorithm: .hs512, key: $0.signing)
                }
            }
    }

    var secretTexts: [String] { accounts.signingKeys.map(\.text) + accounts.streams.flatMap(\.secretKeys) }

    var samples: [(label: String, value: String)] {
        accounts.projects.flatMap { project in
            [(label: "project token", value: project.token)]
                + project.publicKeys.map { (label: "public key of \(project.token)", value: $0.key) }
        } + accounts.streams.map { (label: "stream id", value: $0.id) }
    }

    func sampleRequest(in setting: TokenSetting<Bloomreach>) throws(ControlRefusal) -> SampleRequest {
        let keys = accounts.projects.lazy.flatMap { project in project.publicKeys.map { (project, key: $0) } }
        let (project, key) = try ControlRefusal.require(
            keys.first { $0.key.permissions.contains(.events) }, "no public key may track events")
        let body: JSON = [
            "customer_ids": [BloomreachID.cookie: "sample-device"], "event_type": "session_start",
            "timestamp": JSON(setting.moment.wholeSeconds), "properties": ["platform": "iOS"],
        ]
        return SampleRequest(
            endpoint: .post("/track/v2/projects/\(project.token)/customers/events"),
            fields: [("content-type", "application/json"), ("authorization", "Token \(key.key)")], body: body.text)
    }
}

/// A defect of a minted token, named after the failure it causes (ours).
struct BloomreachDefect {
    private let failure: BloomreachFailure
    private let rules: BloomreachTokenFamily

    static func names(of rules: BloomreachTokenFamily) -> [String] { failures(of: rules).map(\.rawValue) }

    private static func failures(of rules: BloomreachTokenFamily) -> [BloomreachFailure] {
        [
            rules.malformed, rules.wrongAlgorithm, rules.unknownKey, rules.badSignature, rules.missingExpiry,
            rules.expired, rules.notYetValid, rules.badSubject,
        ] + (rules.subject == "ids" ? [.streamTokenWrongStream] : [])
    }

    /// The defect with this name; `nil` if it is not specific to this vendor.
    init?(_ name: String, _ rules: BloomreachTokenFamily) {
        guard let failure = Self.failures(of: rules).first(where: { $0.rawValue == name }) else { return nil }
        (self.failure, self.rules) = (failure, rules)
    }

    /// Applies the defect to a token, in some cases by a general one.
    func apply(
        to token: inout UnsignedToken, of stream: BloomreachStream?, in accounts: BloomreachAccounts
    ) throws(ControlRefusal) {
        switch failure {
        case rules.malformed: token.defect = "two-parts"
        case rules.wrongAlgorithm: token.defect = "wrong-alg"
        case rules.badSignature: token.defect = "bad-signature"
        case rules.missingExpiry: token.defect = "missing-exp"
        case rules.expired: token.defect = "expired"
        case rules.notYetValid: token.defect = "not-yet-valid"
        case rules.unknownKey: token.content.header["kid"] = "key-of-nobody"
        case rules.badSubject: token.content.claims[rules.subject] = rules.subject == "ids" ? [:] : "ana"
        default:
            // A token of another stream.
            let key = try ControlRefusal.require(
                accounts.streams.lazy.filter({ $0 !== stream }).flatMap(\.signingKeys).first,
                "no other stream has a signing key")
            token.key = key.signing
            token.content.header["kid"] = .string(key.id)
        }
    }
}

/// The call by which the vendor's example apps get a customer token. Source: observed in the iOS example app; response
/// to invalid input, default lifetime and order of members are ours.
extension Bloomreach {
    /// The default lifetime of a token (ours).
    static let tokenLifetime = Duration.seconds(3600)

    func keys(for token: CompactToken, in setting: TokenSetting<Bloomreach>) -> [SigningKey] {
        accounts.projects.flatMap(\.privateKeys).map(\.signing)
    }

    /// Signs a token with the named private key; an expiry in the past is signed as given.
    static func mintForExampleApp(_ call: inout BloomreachCall, _ state: inout State) throws(Refused) -> Reply {
        let body = try call.body().passing("project_id", "kid", "sub", "exp")
        let project = try orderedProject(body, call.vendor)
        let (keyID, subject) = try body.read {
            ($0.text("kid"), $0.value("sub", isRequired: true, expecting: "the ids of a customer") { $0 } ?? .null)
        }
        guard let key = project.privateKey(keyID) else {
            throw Refused(
                .mintUnknownKey, because: "kid names no private key of \(project.token)",
                known: project.privateKeys.lazy.map(\.id))
        }
        try Refused.require(
            BloomreachIDs(claim: subject) != nil, .mintBadSubject,
            "sub is \(subject.text.prefix(100)); expected up to \(BloomreachIDs.maximum) names with texts")
        let named = try body.read { body in
            body.value("exp", expecting: "a number") { $0.number.flatMap { $0.double.isFinite ? $0 : nil } }
        }
        let expiry = JSON.number(named ?? JSONNumber((call.moment + tokenLifetime).wholeSeconds))
        var draft = TokenDraft.customerToken(key: key, subject: subject, expiry: expiry)
        let token: String
        do {
            let moment = call.moment.unixSeconds
            token = try call.arrival.refusedTokens.sign(&draft) { draft in
                try draft.mint(key: key.signing, algorithm: .hs256, at: moment)
            }
        } catch {
            throw Refused(.mintUnknownKey, because: "\(error); expected a key that signs HS256")
        }
        try Refused.require(
            BloomreachToken(token).compact.firstFault == nil, .mintBadSubject,
            "the token would be longer than any that is read; expected a shorter sub")
        return .json(["customer_token": .string(token), "expire_time": draft.claims["exp"] ?? expiry])
    }

    private static func orderedProject(
        _ body: Fields<Bloomreach>, _ vendor: Bloomreach
    ) throws(Refused) -> BloomreachProject {
        let token = try body.read { $0.optionalText("project_id") } ?? ""
        try Refused.require(
            BloomreachAddress.isWellFormed(token), .invalidProjectID,
            "project_id is \(token.shown); expected a project token")
        return try Refused.require(
            vendor.accounts.project(token), .unknownProject,
            "no project has the token \(token)\(Nearest.known(vendor.accounts.projects.lazy.map(\.token)))")
    }
}
