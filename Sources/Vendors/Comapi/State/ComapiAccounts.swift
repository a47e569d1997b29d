import Emulation
import JSON
import Tokens

/// An API space with its settings in the portal.
final class ComapiSpace: Sendable {
    let id: ComapiID
    let accountID: Int
    let issuer: String
    let audience: String
    /// The text of the shared secret, whose UTF-8 bytes are the key; used to diagnose wrong encodings.
    let sharedSecret: String
    let sharedKey: SigningKey
    /// The name of the claim that contains the user's id.
    let idClaim: String
    let sessionSecret: String
    /// The key from which the keys of session tokens are derived.
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

    func copy(_ id: ComapiID) -> ComapiSpace {
        ComapiSpace(
            id: id, accountID: accountID, issuer: issuer, audience: audience, sharedSecret: sharedSecret,
            idClaim: idClaim, sharedKey: sharedKey, sessionSecret: sessionSecret, sessionKey: sessionKey)
    }
}

/// The spaces in `accounts.yaml`, and the templates for further ones.
struct ComapiAccounts: Sendable {
    /// The spaces with a complete id, in file order.
    let spaces: [ComapiSpace]
    /// Templates, whose id is a prefix of space ids; the longest prefix comes first.
    let templates: [ComapiSpace]
    private let byID: [ComapiID: ComapiSpace]

    /// The space with this id, if configured or matched by a template. ours: the vendor has no templates.
    func space(_ id: String) -> ComapiSpace? {
        let id = ComapiID(id)
        if let space = byID[id] { return space }
        // Bounds the memory per id; clients hardly need more than the length of a UUID. ours.
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
        guard !spaces.isEmpty else { throw document.node.problem("there must be one space that is not a template") }
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
