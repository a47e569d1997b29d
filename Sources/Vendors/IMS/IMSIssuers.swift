import Emulation
import HTTPTypes
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

    init(_ fixtures: VendorFixtures) throws(FixtureProblem) {
        let file = try fixtures.file("accounts.yaml")
        let document = try FixtureNode(file: file).mapping("operator_key", "issuers", "dev_issuers", "users")
        self.fixtures = fixtures
        operatorKey = try document.required("operator_key").string()
        guard !operatorKey.isEmpty else { throw try document.required("operator_key").problem("the key is empty") }
        issuers = try IMSIssuer.list(try document.required("issuers"), fixtures, isJudged: file.isJudged)
        users = try document.records("users", fixtures)
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
    static func list(
        _ node: FixtureNode, _ fixtures: VendorFixtures, isJudged: Bool = false
    ) throws(FixtureProblem) -> [IMSIssuer] {
        var issuers = IMSIssuerStore()
        try node.forEachRecord { (node) throws(FixtureProblem) in
            let issuer = try IMSIssuer(node, fixtures, isJudged: isJudged)
            guard issuers[issuer.record.name] == nil, issuers.issuer(issuer.record.issuer) == nil else {
                throw node.problem("another issuer has the name \(issuer.record.name) or its iss")
            }
            issuers.put(issuer)
        }
        return issuers.all
    }

    /// Reads an issuer with the members of a request, and the time at which it was onboarded.
    ///
    /// Fixtures and exports may name any host.
    ///
    /// - Parameter isJudged: whether tests have read the issuer, so that its keys can wait for their first use.
    convenience init(_ node: FixtureNode, _ fixtures: VendorFixtures, isJudged: Bool) throws(FixtureProblem) {
        let entry = try node.mapping(IMSIssuerRecord.members + ["created_at"])
        let created = try entry.required("created_at").moment()
        let keys = try entry.required("keys")
        _ = try entry["issuer"]?.address()
        let body = IMSBody(try node.verbatim().object ?? [:])
        let object = try keys.verbatim().object ?? [:]
        let read = { @Sendable () throws(IMS.Refused) in
            try IMSKeyReader(fixtures: fixtures, obstacle: { _ in nil }).read(object)
        }
        let unread = isJudged ? IMSKeySource(unread: object) : nil
        let reading: IMSKeyReader.Reading
        do throws(IMS.Refused) {
            _ = try body.read { $0.object("keys", isRequired: true) }
            if let unread { reading = IMSKeyReader.Reading(source: unread) } else { reading = try read() }
        } catch {
            throw keys.problem("\(error)")
        }
        let record = try node.read { IMSIssuerRecord(&$0, source: reading.source, created: created) }
        if let remote = reading.source.remoteKeys(of: record.name) {
            if let url = IMSKeyURL(remote.url), url.obstacle(IMSSwitches(), named: [url.host]) != nil {
                keys.warn(
                    "keys are fetched from \(remote.url) only while switch ims.jwks-allow-http names \(url.host), which is off at first; expected that, or https"
                )
            }
            self.init(record, remote: remote)
        } else if unread != nil {
            self.init(record) {
                let reading = try? read()
                return IMSKeyRing(reading?.keys ?? [], skipped: reading?.skipped ?? [])
            }
        } else {
            self.init(record, keys: reading.keys, skipped: reading.skipped)
        }
    }
}

/// The issuers of a sandbox, in the order in which they were onboarded.
typealias IMSIssuerStore = RecordTable<IMSIssuer>

extension IMSIssuer: KeyedRecord {
    var key: ExactText { ExactText(record.name) }
    var names: [ExactText] { [ExactText(record.issuer)] }
    var memory: Int { record.source.byteCount + record.issuer.utf8.count + 512 }

    func isSame(as other: IMSIssuer) -> Bool { record == other.record }
}

extension IMSIssuerStore {
    func issuer(_ iss: String) -> IMSIssuer? { self[named: ExactText(iss)] }

    /// The issuer that a token's `iss` names, in the sandbox where the token is sent: `iss` is compared byte for byte,
    /// and an issuer that is onboarded as `{base}/…` has the address of this server.
    func issuer(_ iss: String, in sandbox: SandboxIdentity) -> IMSIssuer? {
        if iss.hasPrefix(PublicBase.placeholder) { return nil }
        return issuer(iss) ?? sandbox.publicBase.general(iss, of: sandbox.name).flatMap { issuer($0) }
    }

    /// Lists the issuers with these names first, in this order; the others follow in their current order.
    mutating func arrange(_ names: [ExactText]) {
        var order = InsertionOrder<ExactText>()
        for name in names + keys { order.append(name) }
        if order.elementsEqual(keys) { return }
        for issuer in order.compactMap({ self[$0] }) {
            remove(issuer.key)
            store(issuer)
        }
    }

    /// All names in order; empty if that is the natural order.
    var ownOrder: [ExactText] {
        untouched.with(changesOf: self).keys == keys ? [] : keys
    }
}

/// Onboarding of issuers. Source: providing a certificate or a key URL is documented (security page); the calls are
/// ours.
extension IMS {
    static func createIssuer(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        let (record, reading) = try call.issuerRecord(created: call.moment)
        if let other = state.issuers.issuer(record.issuer) { throw exists("issuer", other) }
        if let other = state.issuers[record.name] { throw exists("name", other) }
        return onboard(record, reading, &call, &state, status: .created)
    }

    /// Replaces an issuer; its fetched keys are discarded, its place in the list stays.
    static func replaceIssuer(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        let old = try issuer(call, state)
        let (record, reading) = try call.issuerRecord(created: old.record.created)
        guard record.name.hasSameBytes(as: old.record.name) else {
            throw Self.refusal("name", "is \(record.name), but the path names \(old.record.name)")
        }
        if let other = state.issuers.issuer(record.issuer), other !== old { throw exists("issuer", other) }
        return onboard(record, reading, &call, &state, status: .ok)
    }

    private static func exists(_ field: String, _ other: IMSIssuer) -> Refused {
        Refused(
            .issuerExists, ["field": .string(field)],
            because: "issuer \(other.record.name) has the same \(field); expected an unused one")
    }

    /// Stores an issuer; keys published elsewhere are fetched first, and a failure to do so is only a warning.
    private static func onboard(
        _ record: IMSIssuerRecord, _ reading: IMSKeyReader.Reading, _ call: inout IMSCall, _ state: inout State,
        status: HTTPResponse.Status
    ) -> Reply {
        let issuer: IMSIssuer
        if var remote = record.source.remoteKeys(of: record.name) {
            guard let report = call.keyFetch else { return .fetchKeys(remote) }
            remote.take(report, call.vendor.keyFetchPolicy(call.switches))
            issuer = IMSIssuer(record, remote: remote)
        } else {
            issuer = IMSIssuer(record, keys: reading.keys, skipped: reading.skipped)
            if let phrase = reading.skipped.phrase {
                call.findings.note(
                    "keys-skipped", expected: .text("RSA keys of 2048 bits or more for RS256"),
                    found: .text("\(reading.keys.count) of them, and others"), note: phrase,
                    source: "RFC 7517 section 5")
            }
        }
        state.issuers.store(issuer)
        return .json(issuer.json(at: call.moment, call.switches), status: status)
    }

    static func listIssuers(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        .json(["issuers": .array(state.issuers.all.map { $0.json(at: call.moment, call.switches) })])
    }

    static func readIssuer(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        .json(try issuer(call, state).json(at: call.moment, call.switches))
    }

    /// Fetches the keys now, whatever the cool-down; local keys are always fresh.
    static func refreshIssuer(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        var issuer = try issuer(call, state)
        if var remote = issuer.remote {
            if let obstacle = IMSKeyURL(remote.url)?.obstacle(call.switches, named: call.vendor.accounts.namedHosts) {
                throw Refused(.jwksURLNotAllowed, because: obstacle)
            }
            // The issuer may have got another URL during the fetch; then these keys are not its own.
            guard let report = call.keyFetch, report.url == remote.url else { return .fetchKeys(remote) }
            remote.take(report, call.vendor.keyFetchPolicy(call.switches))
            issuer = IMSIssuer(issuer.record, remote: remote, after: issuer)
            // Stored before the refusal: a failed attempt counts too.
            state.issuers.store(issuer)
            if let problem = report.problem {
                throw Refused(
                    .jwksFetchFailed,
                    because: "found \(problem) at \(remote.url); expected status 200 and a usable key")
            }
        }
        return .json(issuer.json(at: call.moment, call.switches))
    }

    static func deleteIssuer(_ call: inout IMSCall, _ state: inout State) throws(Refused) -> Reply {
        state.issuers.remove(try issuer(call, state).record.name)
        return .empty()
    }

    private static func issuer(_ call: IMSCall, _ state: State) throws(Refused) -> IMSIssuer {
        let name = call.parameters["name"]
        return try Refused.require(
            state.issuers[name], .issuerNotFound,
            "no issuer is called \(name); expected the name of one that was added")
    }
}

extension Call<IMS> {
    fileprivate func issuerRecord(
        created: Moment
    ) throws(IMS.Refused) -> (record: IMSIssuerRecord, reading: IMSKeyReader.Reading) {
        let body = try body()
        let keys = try body.read { body in
            body.refuseUnknown(IMSIssuerRecord.members)
            return body.object("keys", isRequired: true) ?? [:]
        }
        let accounts = vendor.accounts
        let switches = switches
        let reader = IMSKeyReader(
            fixtures: accounts.fixtures, obstacle: { $0.obstacle(switches, named: accounts.namedHosts) })
        let reading = try reader.read(keys)
        return (try body.read { IMSIssuerRecord(&$0, source: reading.source, created: created) }, reading)
    }
}
