import Emulation
import JSON
import Tokens

/// An API space: what the portal's settings say of it.
final class ComapiSpace: Sendable {
    let id: ComapiID
    let accountID: Int
    let issuer: String
    let audience: String
    /// The text of the Shared secret, whose UTF-8 bytes are the key; wrong encodings are diagnosed from it.
    let sharedSecret: String
    let sharedKey: SigningKey
    /// The name of the claim that holds the user's id.
    let idClaim: String
    /// The text of the session secret.
    let sessionSecret: String
    /// From which the keys of session tokens are derived.
    let sessionKey: SigningKey

    init(
        id: ComapiID, accountID: Int, issuer: String, audience: String, sharedSecret: String, idClaim: String,
        sharedKey: SigningKey, sessionSecret: String, sessionKey: SigningKey
    ) {
        self.id = id
        self.accountID = accountID
        self.issuer = issuer
        self.audience = audience
        self.sharedSecret = sharedSecret
        self.idClaim = idClaim
        self.sharedKey = sharedKey
        self.sessionSecret = sessionSecret
        self.sessionKey = sessionKey
    }

    /// A space of another id with the same settings.
    func copy(_ id: ComapiID) -> ComapiSpace {
        ComapiSpace(
            id: id, accountID: accountID, issuer: issuer, audience: audience, sharedSecret: sharedSecret,
            idClaim: idClaim, sharedKey: sharedKey, sessionSecret: sessionSecret, sessionKey: sessionKey)
    }
}

/// The spaces that `accounts.yaml` gives, and the templates by which others come into being.
struct ComapiAccounts: Sendable {
    /// Those that have an id of their own, in the file's order.
    let spaces: [ComapiSpace]
    /// Those whose id is the beginning of others'; the longest goes first.
    let templates: [ComapiSpace]
    private let byID: [ComapiID: ComapiSpace]

    /// The space of that id, if it is configured or a template fits. ours: the vendor has no templates.
    func space(_ id: String) -> ComapiSpace? {
        let id = ComapiID(id)
        if let space = byID[id] { return space }
        // A short id keeps what is stored under it short; the longest that a client could sensibly want is a UUID's. ours.
        guard id.text.utf8.count <= 200 else { return nil }
        let template = templates.first { template in
            id.text.utf8.count > template.id.text.utf8.count && id.text.utf8.starts(with: template.id.text.utf8)
        }
        return template?.copy(id)
    }
}

// MARK: - accounts.yaml

extension ComapiAccounts {
    /// Reads `accounts.yaml`.
    init(_ fixtures: VendorFixtures) throws(FixtureProblem) {
        let document = try fixtures.document("accounts.yaml").mapping("spaces")
        var (spaces, templates): ([ComapiSpace], [ComapiSpace]) = ([], [])
        var byID: [ComapiID: ComapiSpace] = [:]
        for node in try document.required("spaces").elements() {
            let space = try ComapiSpace(node)
            guard !space.id.text.isEmpty else { throw node.problem("a space needs an id") }
            if space.id.text.hasSuffix("*") {
                guard space.id.text.count > 1 else { throw node.problem("a template needs letters before the *") }
                templates.append(space.copy(ComapiID(space.id.text.dropLast())))
            } else {
                guard byID.updateValue(space, forKey: space.id) == nil else {
                    throw node.problem("another space has the id \(space.id.text)")
                }
                spaces.append(space)
            }
        }
        guard !spaces.isEmpty else { throw document.node.problem("there must be one space that is no template") }
        self.spaces = spaces
        self.templates = templates.sorted { $0.id.text.utf8.count > $1.id.text.utf8.count }
        self.byID = byID
    }
}

extension ComapiSpace {
    fileprivate convenience init(_ node: FixtureNode) throws(FixtureProblem) {
        let entry = try node.mapping(
            "id", "account_id", "issuer", "audience", "shared_secret", "id_claim", "session_secret")
        let secret = try entry.required("shared_secret")
        let sessionSecret = try entry.required("session_secret")
        self.init(
            id: ComapiID(try entry.required("id").string()), accountID: try entry.required("account_id").int(),
            issuer: try entry.required("issuer").string(), audience: try entry.required("audience").string(),
            sharedSecret: try secret.string(), idClaim: try entry.required("id_claim").string(),
            sharedKey: try Self.key(secret), sessionSecret: try sessionSecret.string(),
            sessionKey: try Self.key(sessionSecret))
    }

    private static func key(_ node: FixtureNode) throws(FixtureProblem) -> SigningKey {
        let text = try node.string()
        do {
            return try SigningKey.secret(text)
        } catch {
            throw node.problem("cannot be used as a secret: \(error)")
        }
    }
}
