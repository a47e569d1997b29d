import Emulation
import JSON
import Tokens

/// What the fixtures provide: the operator's key, issuers, users, and the keys of issuers for which this server signs.
struct IMSAccounts: Sendable {
    let operatorKey: String
    let issuers: [IMSIssuer]
    let users: [IMSUser]
    /// Issuers whose private keys this server holds: it signs for them and publishes their public keys (ours).
    let devIssuers: [IssuerKeyFiles]
    /// The hosts of the issuers' key URLs: naming them in a fixture allows them.
    let namedHosts: Set<String>

    /// The files next to the accounts, which key sources may name.
    let fixtures: VendorFixtures

    func devIssuer(_ name: String) -> IssuerKeyFiles? { devIssuers.first { $0.name.hasSameBytes(as: name) } }

    /// Reads `accounts.yaml`.
    init(_ fixtures: VendorFixtures) throws(FixtureProblem) {
        let document = try fixtures.document("accounts.yaml").mapping("operator_key", "issuers", "dev_issuers", "users")
        self.fixtures = fixtures
        operatorKey = try document.required("operator_key").string()
        guard !operatorKey.isEmpty else { throw try document.required("operator_key").problem("the key is empty") }
        issuers = try IMSIssuer.list(try document.required("issuers"), fixtures)
        users = try IMSUserStore.list(try document.required("users"), .fixture(fixtures))
        var devIssuers: [IssuerKeyFiles] = []
        try document.required("dev_issuers").forEachRecord { (node) throws(FixtureProblem) in
            let entry = try node.mapping("name", "key", "spares", "cache_control")
            let issuer = try IssuerKeyFiles(name: try entry.required("name").string(), entry, fixtures)
            guard !devIssuers.contains(where: { $0.name == issuer.name }) else {
                throw node.problem("another dev issuer is called \(issuer.name)")
            }
            devIssuers.append(issuer)
        }
        self.devIssuers = devIssuers
        namedHosts = Set(issuers.compactMap { $0.remote.flatMap { IMSKeyURL($0.url) }?.host }.filter { !$0.isEmpty })
    }
}

// MARK: - Issuers

extension IMSIssuer {
    /// Reads issuers and checks them against each other.
    static func list(_ node: FixtureNode, _ fixtures: VendorFixtures) throws(FixtureProblem) -> [IMSIssuer] {
        var issuers = IMSIssuerStore()
        try node.forEachRecord { (node) throws(FixtureProblem) in
            let issuer = try IMSIssuer(node, fixtures)
            guard issuers.named(issuer.record.name) == nil, issuers.issuer(issuer.record.issuer) == nil else {
                throw node.problem("another issuer has the name \(issuer.record.name) or its iss")
            }
            issuers.put(issuer)
        }
        return issuers.all
    }

    /// Reads an issuer with the members of a request, and the time at which it was onboarded.
    ///
    /// Fixtures and exports may name any host.
    convenience init(_ node: FixtureNode, _ fixtures: VendorFixtures) throws(FixtureProblem) {
        let entry = try node.mapping(IMSIssuerRecord.members + ["created_at"])
        let created = try entry.required("created_at").moment()
        let keys = try entry.required("keys")
        let body = IMSBody(try node.verbatim().object ?? [:])
        let reading: IMSKeyReader.Reading
        let record: IMSIssuerRecord
        do throws(IMSRefusal) {
            let reader = IMSKeyReader(fixtures: fixtures, obstacle: { _ in nil })
            reading = try reader.read(try body.read { $0.object("keys", isRequired: true) ?? [:] })
        } catch {
            throw keys.problem(error.reason ?? error.failure.rawValue)
        }
        do throws(IMSRefusal) {
            record = try body.read { IMSIssuerRecord(&$0, source: reading.source, created: created) }
        } catch {
            throw node.problem(error.reason ?? error.failure.rawValue)
        }
        if let remote = reading.source.remoteKeys(of: record.name) {
            self.init(record, remote: remote)
        } else {
            self.init(record, keys: reading.keys, skipped: reading.skipped)
        }
    }
}
