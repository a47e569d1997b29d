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
            ], defects: BloomreachTokenFamily.customerToken.defects.map(\.rawValue)),
        TokenKind(
            name: "stream-token", about: "speaks for one customer on the paths of a stream",
            members: [
                ("stream", "id of the stream whose signing key signs; by default the first one with a key"),
                ("key", "id of that key; by default the first one"),
                ("customer", "the customer's registered id; by default that of the first customer who has one"),
                ("expires_in", "seconds from now to exp; by default 900"),
            ], defects: BloomreachTokenFamily.streamToken.defects.map(\.rawValue)),
    ]

    func mint(_ order: inout MintRequest, in setting: TokenSetting<Bloomreach>) throws(ControlRefusal) -> String {
        let isStream = order.kind == "stream-token"
        let (project, stream, key) = try signer(&order, isStream: isStream)
        let named = try order.string("customer")
        if named?.isEmpty == true { throw ControlRefusal("customer is empty; expected a registered id") }
        let registered = if let named { named } else { try firstCustomer(of: project, in: setting.state) }
        let lifetime = try order.int("expires_in").map { Duration.seconds($0) }
        let expiry = setting.moment + (lifetime ?? (isStream ? .seconds(900) : Self.tokenLifetime))
        let family = isStream ? BloomreachTokenFamily.streamToken : .customerToken
        let draft = family.draft(
            by: key, of: [BloomreachID.registered: .string(registered)], until: JSON(expiry.wholeSeconds))
        return try order.mint(
            UnsignedToken(draft, by: key.secret), at: setting.moment,
            own: { name in family.defects.first { $0.rawValue == name } }
        ) { (defect, token) throws(ControlRefusal) in try spoil(&token, by: defect, family, of: stream) }
    }

    /// The signing key, and the project whose customers the token speaks for.
    private func signer(
        _ order: inout MintRequest, isStream: Bool
    ) throws(ControlRefusal) -> (project: BloomreachProject, stream: BloomreachStream?, key: BloomreachSigningKey) {
        let owner = try order.string(isStream ? "stream" : "project")
        let stream = isStream ? try accounts.stream(named: owner) { !$0.signingKeys.isEmpty } : nil
        let project =
            if let stream { stream.project } else { try accounts.project(named: owner) { !$0.privateKeys.isEmpty } }
        let keys = stream?.signingKeys ?? project.privateKeys
        let id = try order.string("key")
        let key = try ControlRefusal.require(
            id.map { id in keys.first { $0.id.hasSameBytes(as: id) } } ?? keys.first,
            "\(stream.map { "stream \($0.id)" } ?? "project \(project.token)") has no key", id ?? "to sign with",
            among: keys.map(\.id))
        return (project, stream, key)
    }

    private func firstCustomer(of project: BloomreachProject, in state: State) throws(ControlRefusal) -> String {
        let registered = state.customers(of: project).all.lazy.compactMap { $0.ids[BloomreachID.registered] }.first
        return try ControlRefusal.require(
            registered, "no customer of \(project.token) has a registered id; name one with the member customer")
    }

    /// Apps' backends sign with secrets shared with Bloomreach; there are no published keys.
    var secretKeys: [SecretKey] {
        accounts.projects.flatMap { project in
            project.privateKeys.map { $0.secret.shared(with: "project \(project.token), key \($0.id)") }
        }
            + accounts.streams.flatMap { stream in
                stream.signingKeys.map { $0.secret.shared(with: "stream \(stream.id), key \($0.id)") }
            }
    }

    var secretTexts: [String] { accounts.secretTexts }

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

extension BloomreachTokenFamily {
    /// The defects of minted tokens, named after the failures they cause (ours).
    var defects: [BloomreachFailure] {
        [
            malformed, wrongAlgorithm, unknownKey, badSignature, missingExpiry, expired, notYetValid, badSubject,
        ] + (subject == "ids" ? [.streamTokenWrongStream] : [])
    }
}

extension Bloomreach {
    /// Gives a token a defect, in some cases a general one.
    private func spoil(
        _ token: inout UnsignedToken, by defect: BloomreachFailure, _ family: BloomreachTokenFamily,
        of stream: BloomreachStream?
    ) throws(ControlRefusal) {
        switch defect {
        case family.malformed: token.defect = "two-parts"
        case family.wrongAlgorithm: token.defect = "wrong-alg"
        case family.badSignature: token.defect = "bad-signature"
        case family.missingExpiry: token.defect = "missing-exp"
        case family.expired: token.defect = "expired"
        case family.notYetValid: token.defect = "not-yet-valid"
        case family.unknownKey: token.content.header["kid"] = "key-of-nobody"
        case family.badSubject: token.content.claims[family.subject] = family.subject == "ids" ? [:] : "ana"
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
        var draft = BloomreachTokenFamily.customerToken.draft(by: key, of: subject, until: expiry)
        let token = call.arrival.refusedTokens.sign(&draft, key.secret.sign)
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
