import Emulation
import JSON
import Tokens

/// A secret that signs tokens: the UTF-8 bytes of a text, not decoded.
final class BloomreachSigningKey: Sendable {
    /// The key id in `kid`; for a private key, also the name in `Basic`.
    let id: String
    let secret: SecretKey

    var phrase: String { secret.owner }

    /// - Parameter kind: the kind of key and its owner: “private key of project P”.
    fileprivate init(_ node: FixtureNode, kind: String, for algorithm: Algorithm) throws(FixtureProblem) {
        let entry = try node.mapping("id", "secret")
        id = try entry.required("id").string()
        let text = try entry.required("secret").string()
        secret = try SecretKey(text, of: "\(kind) \(id)", for: algorithm, at: node)
    }

    fileprivate static func list(
        _ node: FixtureNode?, kind: String, for algorithm: Algorithm
    ) throws(FixtureProblem) -> [BloomreachSigningKey] {
        try node?.elements().map { (node) throws(FixtureProblem) in
            try BloomreachSigningKey(node, kind: kind, for: algorithm)
        } ?? []
    }
}

final class BloomreachProject: Sendable {
    let token: String
    /// The hard ids that it defines in addition to `registered`.
    let idNames: [String]
    let publicKeys: [BloomreachPublicKey]
    /// Pairs of key id and secret; the pair used in `Basic` also signs customer tokens.
    let privateKeys: [BloomreachSigningKey]
    /// Overrides the switch of the same name.
    let appInboxAuth: BloomreachSwitches.AppInboxAuth?

    fileprivate init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping("token", "id_names", "public_keys", "private_keys", "app_inbox_auth", "customers")
        token = try entry.required("token").string()
        guard BloomreachAddress.isWellFormed(token) else {
            throw node.problem("the project token “\(token)” is not made of letters, digits and -")
        }
        publicKeys = try entry["public_keys"]?.elements().map(BloomreachPublicKey.init) ?? []
        idNames = try entry["id_names"].map([String].read) ?? []
        privateKeys = try BloomreachSigningKey.list(
            entry["private_keys"], kind: "private key of project \(token)", for: .hs256)
        appInboxAuth = try entry["app_inbox_auth"]?.choice(of: BloomreachSwitches.AppInboxAuth.self)
    }

    func publicKey(_ key: String) -> BloomreachPublicKey? { publicKeys.first { $0.key.hasSameBytes(as: key) } }

    func privateKey(_ id: String) -> BloomreachSigningKey? { privateKeys.first { $0.id.hasSameBytes(as: id) } }

    func definesID(_ name: String) -> Bool {
        [BloomreachID.cookie, BloomreachID.registered].contains { $0.hasSameBytes(as: name) }
            || idNames.contains { $0.hasSameBytes(as: name) }
    }
}

/// A stream of the Data hub, which uses the data of a project.
final class BloomreachStream: Sendable {
    let id: String
    let project: BloomreachProject
    let signingKeys: [BloomreachSigningKey]
    /// The secret keys of a private stream, which prove that a server sends; empty for a public stream.
    let secretKeys: [String]
    let permissions: BloomreachStreamPermissions
    /// Overrides the switch of the same name.
    let requireJWT: BloomreachSwitches.RequireJWT?

    fileprivate init(_ node: FixtureNode, of projects: [BloomreachProject]) throws(FixtureProblem) {
        let entry = try node.mapping(
            "id", "project", "signing_keys", "secret_keys", "permissions", "signed_only_ids", "require_jwt")
        let token = try entry.required("project").string()
        id = try entry.required("id").string()
        guard BloomreachAddress.isWellFormed(id) else {
            throw node.problem("the stream id “\(id)” is not made of letters, digits and -")
        }
        guard let project = projects.first(where: { $0.token == token }) else {
            throw node.problem(
                "no project has the token \(token)\(Nearest.hint(to: token, among: projects.map(\.token)))")
        }
        self.project = project
        signingKeys = try BloomreachSigningKey.list(
            entry["signing_keys"], kind: "signing key of stream \(id)", for: .hs512)
        secretKeys = try entry["secret_keys"].map([String].read) ?? []
        if let node = entry["secret_keys"], secretKeys.contains("") { throw node.problem("a secret key is empty") }
        permissions = try BloomreachStreamPermissions(entry["permissions"], signedOnlyIDs: entry["signed_only_ids"])
        requireJWT = try entry["require_jwt"]?.choice(of: BloomreachSwitches.RequireJWT.self)
    }

    var isPrivate: Bool { !secretKeys.isEmpty }

    func signingKey(_ id: String) -> BloomreachSigningKey? { signingKeys.first { $0.id.hasSameBytes(as: id) } }
}

/// What a stream lets in. Source: kinds and rules are documented (Data hub pages on permissions of event streams), as is
/// that signed-only needs the stream to check tokens; names, and that what no rule names is allowed, are ours.
struct BloomreachStreamPermissions: Sendable {
    enum Rule: String, Sendable, CaseIterable { case allow, signedOnly = "signed-only", deny }

    enum Kind: String, Sendable, CaseIterable {
        case customerIDs = "customer_ids"
        case eventTypes = "event_types"
        case customerProperties = "customer_properties"

        var phrase: String {
            switch self {
            case .customerIDs: "the customer id"
            case .eventTypes: "events of type"
            case .customerProperties: "the property"
            }
        }
    }

    private var rules: [Kind: [(name: String, rule: Rule)]] = [:]

    /// - Parameter old: the ids as files of version 0.1.0 have them.
    fileprivate init(_ node: FixtureNode?, signedOnlyIDs old: FixtureNode?) throws(FixtureProblem) {
        if let old {
            let names = try [String].read(old)
            rules[.customerIDs] = names.map { ($0, .signedOnly) }
            let list = names.map { "\($0): signed-only" }.joined(separator: ", ")
            old.warn("signed_only_ids is now permissions; write permissions: { customer_ids: { \(list) } }")
        }
        guard let entry = try node?.mapping(Kind.allCases.map(\.rawValue)) else { return }
        for kind in Kind.allCases {
            for (name, rule) in try entry[kind.rawValue]?.members() ?? [] {
                rules[kind, default: []].append((name, try rule.choice(of: Rule.self)))
            }
        }
    }

    /// The rule for a name, else that for `*`.
    func rule(for name: String, _ kind: Kind) -> Rule {
        let rules = rules[kind] ?? []
        return (rules.first { $0.name.hasSameBytes(as: name) } ?? rules.first { $0.name == "*" })?.rule ?? .allow
    }
}

/// The accounts in the fixtures: projects with keys, streams, and the initial customers of every sandbox.
struct BloomreachAccounts: Sendable {
    let file: FixtureStore.File
    let projects: [BloomreachProject]
    let streams: [BloomreachStream]
    /// The customers by project token, numbered in file order.
    let customers: [String: BloomreachCustomerStore]

    func project(_ token: String) -> BloomreachProject? { projects.first { $0.token.hasSameBytes(as: token) } }

    func holder(ofPublicKey key: String) -> BloomreachProject? { projects.first { $0.publicKey(key) != nil } }

    func stream(_ id: String) -> BloomreachStream? { streams.first { $0.id.hasSameBytes(as: id) } }

    /// The project that a mint request or an action names; by default the first that fits.
    func project(
        named token: String?, or fits: (BloomreachProject) -> Bool
    ) throws(ControlRefusal) -> BloomreachProject {
        try ControlRefusal.require(
            token.map(project) ?? projects.first(where: fits), "no project has the token", token ?? "",
            among: projects.map(\.token))
    }

    /// The stream that a mint request names; by default the first that fits.
    func stream(named id: String?, or fits: (BloomreachStream) -> Bool) throws(ControlRefusal) -> BloomreachStream {
        try ControlRefusal.require(
            id.map(stream) ?? streams.first(where: fits), "no stream has the id", id ?? "", among: streams.map(\.id))
    }

    var signingKeys: [BloomreachSigningKey] { projects.flatMap(\.privateKeys) + streams.flatMap(\.signingKeys) }

    func signingKey(_ id: String) -> BloomreachSigningKey? { signingKeys.first { $0.id.hasSameBytes(as: id) } }

    /// Everything that is never shown.
    var secretTexts: [String] { signingKeys.map(\.secret.text) + streams.flatMap(\.secretKeys) }

    /// A token's `kid` for display; masked if it contains a misplaced secret.
    func shown(keyID: String?) -> Fact {
        guard let keyID else { return .absent }
        let holdsSecret = secretTexts.contains { !$0.isEmpty && keyID.contains($0) }
        return .text(holdsSecret ? "a text that holds a secret" : keyID)
    }

    // MARK: - accounts.yaml

    init(_ fixtures: VendorFixtures) throws(FixtureProblem) {
        file = try fixtures.file("accounts.yaml")
        let document = try FixtureNode(file: file).mapping("projects", "streams")
        var projects: [BloomreachProject] = []
        var customers: [String: BloomreachCustomerStore] = [:]
        try document.required("projects").forEachRecord { (node) throws(FixtureProblem) in
            let project = try BloomreachProject(node)
            guard !projects.contains(where: { $0.token == project.token }) else {
                throw node.problem("another project has the token \(project.token)")
            }
            projects.append(project)
            customers[project.token] = try BloomreachCustomerStore(node, fixtures)
        }
        guard !projects.isEmpty else { throw document.node.problem("there must be a project") }
        var streams: [BloomreachStream] = []
        try document["streams"]?.forEachRecord { (node) throws(FixtureProblem) in
            let stream = try BloomreachStream(node, of: projects)
            guard !streams.contains(where: { $0.id == stream.id }), !projects.contains(where: { $0.token == stream.id })
            else { throw node.problem("another stream or project has the id \(stream.id)") }
            streams.append(stream)
        }
        self.projects = projects
        self.streams = streams
        self.customers = customers
    }
}

/// A permission of a public key. Source: that keys have such permissions is documented (page on API access of the
/// mobile SDKs); the names are ours.
enum BloomreachPermission: String, CaseIterable, RecordValue {
    case customers, events, campaigns, attributes, consents, inapp, appinbox, selfcheck, blocks, segments
}

/// A key embedded in an app: it identifies itself and proves nothing.
final class BloomreachPublicKey: Sendable {
    /// The key as it appears after `Token`.
    let key: String
    let permissions: Set<BloomreachPermission>
    /// Customer properties that the key may neither write nor read.
    let deniedProperties: [String]
    /// Types of events that the key may not track.
    let deniedEvents: [String]

    init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping("key", "permissions", "denied_properties", "denied_events")
        permissions = Set(try entry["permissions"].map([BloomreachPermission].read) ?? BloomreachPermission.allCases)
        key = try entry.required("key").string()
        deniedProperties = try entry["denied_properties"].map([String].read) ?? []
        deniedEvents = try entry["denied_events"].map([String].read) ?? []
    }

    func mayUse(property name: String) -> Bool { !deniedProperties.contains { $0.hasSameBytes(as: name) } }

    func mayTrack(event type: String) -> Bool { !deniedEvents.contains { $0.hasSameBytes(as: type) } }
}
