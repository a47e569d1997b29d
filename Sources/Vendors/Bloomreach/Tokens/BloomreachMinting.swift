import Emulation
import JSON
import Tokens

extension Bloomreach {
    private static let customerMembers: [(name: String, about: String)] = [
        ("project", "token of the project whose private key signs; the first one that has a key"),
        ("key", "id of that key; the first one"),
        ("customer", "the customer's registered id; that of the project's first customer who has one"),
        ("expires_in", "seconds from now to exp; 3600"),
    ]
    private static let streamMembers: [(name: String, about: String)] = [
        ("stream", "id of the stream whose signing key signs; the first one that has a key"),
        ("key", "id of that key; the first one"),
        ("customer", "the customer's registered id; that of the first customer who has one"),
        ("expires_in", "seconds from now to exp; 900"),
    ]

    static let tokenKinds = [
        TokenKind(
            name: "customer-token", about: "speaks for one customer of a project, as an app's own backend signs it",
            members: customerMembers, defects: BloomreachDefect.names(of: .customerToken)),
        TokenKind(
            name: "stream-token", about: "speaks for one customer on the paths of a stream",
            members: streamMembers, defects: BloomreachDefect.names(of: .streamToken)),
    ]

    func mint(_ order: MintRequest, in setting: TokenSetting<Bloomreach>) throws(MintRefusal) -> MintedToken {
        var reader = MintRequestReader(order)
        let isStream = order.kind == "stream-token"
        let signer = if isStream { try streamSigner(&reader) } else { try projectSigner(&reader) }
        let named = try reader.string("customer")
        if named?.isEmpty == true { throw MintRefusal("customer is empty; expected a registered id") }
        let registered = if let named { named } else { try firstCustomer(of: signer.project, in: setting.state) }
        let lifetime = try reader.int("expires_in").map { Duration.seconds($0) }
        let expiry = JSON((setting.moment + (lifetime ?? (isStream ? .seconds(900) : Self.tokenLifetime))).wholeSeconds)
        let ids: JSON = [BloomreachID.registered: .string(registered)]
        let draft: TokenDraft =
            isStream
            ? .streamToken(key: signer.key, ids: ids, expiry: expiry)
            : .customerToken(key: signer.key, subject: ids, expiry: expiry)
        let rules = isStream ? BloomreachTokenFamily.streamToken : .customerToken
        return try reader.mint(
            UnsignedToken(draft, key: signer.key.signing, algorithm: rules.algorithm), at: setting.moment,
            own: { BloomreachDefect($0, rules) }
        ) { (defect, token) throws(MintRefusal) in try defect.apply(to: &token, of: signer.stream, in: accounts) }
    }

    /// The signer, and the project whose customers the token speaks for.
    struct Signer {
        let project: BloomreachProject
        let stream: BloomreachStream?
        let key: BloomreachSigningKey
    }

    private func projectSigner(_ reader: inout MintRequestReader) throws(MintRefusal) -> Signer {
        let token = try reader.string("project")
        guard let project = token.map(accounts.project) ?? accounts.projects.first(where: { !$0.privateKeys.isEmpty })
        else {
            let hint = Nearest.hint(to: token ?? "", among: accounts.projects.map(\.token))
            throw MintRefusal("no project has the token \(token ?? "")\(hint)")
        }
        let key = try Self.key(try reader.string("key"), among: project.privateKeys, of: "project \(project.token)")
        return Signer(project: project, stream: nil, key: key)
    }

    private func streamSigner(_ reader: inout MintRequestReader) throws(MintRefusal) -> Signer {
        let id = try reader.string("stream")
        guard let stream = id.map(accounts.stream) ?? accounts.streams.first(where: { !$0.signingKeys.isEmpty }) else {
            let hint = Nearest.hint(to: id ?? "", among: accounts.streams.map(\.id))
            throw MintRefusal("no stream has the id \(id ?? "")\(hint)")
        }
        let key = try Self.key(try reader.string("key"), among: stream.signingKeys, of: "stream \(stream.id)")
        return Signer(project: stream.project, stream: stream, key: key)
    }

    private static func key(
        _ id: String?, among keys: [BloomreachSigningKey], of owner: String
    ) throws(MintRefusal) -> BloomreachSigningKey {
        guard let key = id.map({ id in keys.first { $0.id.hasSameBytes(as: id) } }) ?? keys.first else {
            let hint = Nearest.hint(to: id ?? "", among: keys.map(\.id))
            throw MintRefusal("\(owner) has no key \(id ?? "to sign with")\(hint)")
        }
        return key
    }

    private func firstCustomer(of project: BloomreachProject, in state: State) throws(MintRefusal) -> String {
        let registered = state.customers(of: project).all.lazy.compactMap { $0.ids[BloomreachID.registered] }.first
        guard let registered else {
            throw MintRefusal("no customer of \(project.token) has a registered id; name one with the member customer")
        }
        return registered
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

    var secretTexts: [String] {
        (accounts.projects.flatMap(\.privateKeys) + accounts.streams.flatMap(\.signingKeys)).map(\.text)
    }

    var samples: [SampleCredential] {
        accounts.projects.flatMap { project in
            [SampleCredential(label: "project token", value: project.token)]
                + project.publicKeys.map {
                    SampleCredential(label: "public key of \(project.token)", value: $0.key)
                }
        } + accounts.streams.map { SampleCredential(label: "stream id", value: $0.id) }
    }

    func sampleRequest(at moment: Moment, base: String) throws(MintRefusal) -> SampleRequest {
        let project = accounts.projects.first { project in
            project.publicKeys.contains { $0.permissions.contains(.events) }
        }
        guard let project, let key = project.publicKeys.first(where: { $0.permissions.contains(.events) }) else {
            throw MintRefusal("no public key may track events")
        }
        let body: JSON = [
            "customer_ids": [BloomreachID.cookie: "sample-device"], "event_type": "session_start",
            "timestamp": JSON(moment.wholeSeconds), "properties": ["platform": "iOS"],
        ]
        return SampleRequest(
            endpoint: .post("/track/v2/projects/\(project.token)/customers/events"),
            fields: [("content-type", "application/json"), ("authorization", "Token \(key.key)")], body: body.text)
    }
}
