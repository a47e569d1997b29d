import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// What the field `Authorization` of a request says under Okta's own scheme. Source: postman; validator page.
enum OktaSSWS: Sendable {
    case absent
    /// Several lines, which count as one value (RFC 9110 section 5.3).
    case repeated
    /// Another scheme, or none.
    case other
    case value(String)

    /// The scheme's case is ignored (RFC 9110 section 11.1). The API token may follow without a blank (observed, pysdk
    /// 3.4.6).
    init(_ fields: FieldLines) {
        guard let text = fields[.authorization] else {
            self = .absent
            return
        }
        let value = text.dropFirst(4).drop { $0 == " " }
        let isOfScheme = text.prefix(4).lowercased() == "ssws" && !value.isEmpty
        self = fields.isRepeated(.authorization) ? .repeated : isOfScheme ? .value(String(value)) : .other
    }

    var text: String? { if case .value(let text) = self { text } else { nil } }

    /// What is there in place of the expected value, without anything that may be secret.
    var found: Fact {
        switch self {
        case .absent: .nothing("no Authorization header")
        case .repeated: .text("several Authorization headers")
        case .other: .text("Authorization with another scheme than SSWS")
        case .value(let text):
            text.count(where: { $0 == "." }) == 2 ? .text("SSWS and a token") : .text("SSWS and a value without dots")
        }
    }
}

/// What a device presents with its answer to a challenge, and what its rules check.
struct OktaDeviceFacts: OktaRuleFacts {
    let presented: OktaSSWS
    let compact: CompactToken?
    let moment: Moment
    let profile: OktaSwitches.SSWSProfile
    let isAPIToken: Bool

    // What the path names, known with the state.

    var path = Path()
    /// The factor of the path, if it is the user's.
    var factor: OktaFactor?
    var key: VerificationKey?
    /// What `aud` may say.
    var audiences: [String] = []
    var transaction: OktaTransaction?
    /// Whether the factor's device used the `jti` before.
    var isUsed = false

    struct Path {
        /// The user's id; the text of the path if nobody has it.
        var user = ""
        var factor = ""
        var transaction = ""
    }

    init(_ presented: OktaSSWS, _ accounts: OktaAccounts, _ switches: OktaSwitches, at moment: Moment) {
        self.presented = presented
        compact = presented.text.map { CompactToken($0) }
        isAPIToken = presented.text?.hasSameBytes(as: accounts.apiToken) == true
        profile = switches.sswsProfile
        self.moment = moment
    }

    /// Finds the user, factor and transaction with these ids; the user may be named by login.
    mutating func find(_ named: Path, of sandbox: SandboxIdentity, in state: OktaState) {
        path = named
        let user = state.user(named.user)
        if let user { path.user = user.id }
        audiences = []
        for base in sandbox.addresses {
            let host = OktaHost(of: base)
            for form in [host.authority, host.name, base] where !audiences.contains(form) { audiences.append(form) }
        }
        guard let user, let factor = state.factor(path.factor, of: user.id), factor.kind == .push else { return }
        self.factor = factor
        key = factor.verificationKey
        transaction = state.transaction(path.transaction, of: factor)
        if let id = compact?.claims?["jti"]?.string { isUsed = state.isUsed(.ssws, id, of: factor.id, at: moment) }
    }

    var algorithms: [Algorithm] { profile == .devices ? [.rs256, .es256] : [.rs256] }

    /// The longest life of a token in seconds; the validator page's sample truncates two readings of the clock, hence
    /// one more.
    var longestLife: Double { profile == .devices ? 300 : 61 }
}

private typealias Rule = TokenRule<OktaDeviceFacts>

private let validatorPage = "validator page"
private let validatorPageAndDevices = "validator page; devices"

/// The rules for the tokens with which devices answer challenges, in the order of their checks.
///
/// The key comes before the claims, and the token before the transaction, so that a guess learns nothing (ours). Source
/// of algorithm and claims: validator page; that all failures look the same: inferred from devices.
extension Okta {
    func authenticateDevice(
        _ arrival: OktaArrival, _ credentials: inout OktaCredentials, _ findings: inout Findings<OktaFailure>
    ) {
        let facts = OktaDeviceFacts(OktaSSWS(arrival.request.fields), accounts, arrival.switches, at: arrival.moment)
        credentials.device = facts
        credentials.compact = facts.compact
        findings.judge(facts, by: Self.deviceFormRules)
    }

    func authorizeDevice(_ call: inout OktaCall, _ state: inout OktaState) {
        guard var facts = call.credentials.device else { return }
        let named = OktaDeviceFacts.Path(
            user: call.parameters["user"], factor: call.parameters["factor"],
            transaction: call.parameters["transaction"])
        facts.find(named, of: call.arrival.sandbox, in: state)
        call.findings.judge(facts, by: Self.deviceRules)
    }

    /// What needs no state: that there is a token, its form and its algorithm.
    static let deviceFormRules = RuleList(
        [
            Rule("ssws-present", "Authorization: SSWS TOKEN", validatorPage, orFail: .sswsMissing) { facts, finding in
                facts.presented.text != nil ? .passed : finding.judge(facts.presented.found, false)
            }
        ]
            + Rule.structure(orFail: .sswsMalformed, named: "ssws-") { facts in
                facts.isAPIToken ? "This is the organization's API token; a device signs a token of its own." : nil
            } + [
                Rule(
                    "ssws-type", "JWT, or none; with ssws-profile = devices also one that ends in +jwt",
                    validatorPageAndDevices, .inferred, orFail: .sswsMalformed
                ) { facts, finding in
                    guard let header = facts.compact?.header else { return nil }
                    guard let value = header["typ"] else { return .passed }
                    let name = value.string?.lowercased() ?? ""
                    let isOther = facts.profile == .devices && name.hasSuffix("+jwt")
                    return finding.judge(.json(value), name == "jwt" || isOther)
                },
                Rule(.critical(), id: "ssws-critical", orFail: .sswsMalformed),
                Rule(
                    "ssws-algorithm", "RS256; with ssws-profile = devices also ES256", validatorPageAndDevices,
                    orFail: .sswsAlgorithm
                ) { facts, finding in
                    guard let token = facts.compact else { return nil }
                    return finding.take(token.algorithm(isOneOf: facts.algorithms, source: validatorPageAndDevices))
                },
                Rule(.keyReferences, id: "ssws-key-references"),
            ])

    /// What needs the factor and the transaction that the path names.
    static let deviceRules = RuleList(deviceKey + deviceClaims + deviceTimes + deviceUses)

    private static let deviceKey = [
        Rule(
            "ssws-factor", "iss with the id of the path's factor, which is active and the user's", validatorPage,
            orFail: .sswsFactor
        ) { facts, finding in
            guard let token = facts.compact else { return nil }
            guard let factor = facts.factor else {
                return finding.judge(.text("no push factor \(facts.path.factor) of user \(facts.path.user)"), false)
            }
            guard factor.status == .active else {
                return finding.judge(.text("\(factor.id), which is \(factor.status.rawValue)"), false)
            }
            let issuer = token.claims?["iss"]
            return finding.judge(issuer.map(Fact.json) ?? .absent, issuer?.string?.hasSameBytes(as: factor.id) == true)
        },
        Rule("ssws-signature", "a signature by the factor's key", validatorPage, orFail: .sswsSignature) {
            facts, finding in
            guard let token = facts.compact else { return nil }
            guard let key = facts.key, let algorithm = token.namedAlgorithm(among: facts.algorithms) else {
                finding?.note = "There is no key or algorithm to judge it by."
                // A factor that has no usable key cannot have signed anything.
                return facts.factor != nil && facts.key == nil ? .failed : .notJudged
            }
            return token.signature(by: key, algorithm: algorithm, &finding)
        },
    ]

    // MARK: - Claims

    private static let deviceClaims: [Rule] =
        [
            ("tx", .nonEmptyString), ("sub", .nonEmptyString), ("aud", .nonEmptyString), ("iat", .number),
            ("nbf", .number), ("exp", .number),
        ].map { (name: String, types: ValueTypes) in
            Rule(.claim(name, is: types, source: validatorPage), id: "ssws-claim-\(name)", orFail: .sswsClaims)
        } + [
            Rule("ssws-claim-jti", "a string of 1 to 255 bytes", "validator page; length ours", orFail: .sswsClaims) {
                facts, finding in
                // A sandbox remembers it.
                facts.compact?.claim("jti", &finding) { (1...255).contains($0?.string?.utf8.count ?? 0) }
            },
            Rule("ssws-subject", "sub with the id of the path's user", validatorPage, orFail: .sswsSubject) {
                facts, finding in facts.compact?.claim("sub", equals: facts.path.user, &finding)
            },
            Rule(
                "ssws-audience", "aud with a host of this sandbox", "validator page; forms ours", orFail: .sswsAudience
            ) { facts, finding in facts.compact?.audience(isOneOf: facts.audiences, acceptsArray: false, &finding) },
        ]

    /// The client sets now, now − 60 s and now + 60 s.
    private static let deviceTimes = [
        Rule("ssws-expiry", "exp later than now", validatorPage, orFail: .sswsExpired) { facts, finding in
            facts.compact?.expiry(at: facts.moment.unixSeconds, &finding)
        },
        Rule("ssws-not-before", "nbf no later than now", validatorPage, orFail: .sswsNotYetValid) { facts, finding in
            facts.compact?.notBefore(at: facts.moment.unixSeconds, &finding)
        },
        Rule("ssws-issued-at", "iat no later than a minute from now", "ours", .ours, orFail: .sswsNotYetValid) {
            facts, finding in
            facts.compact?.notBefore(at: facts.moment.unixSeconds, claim: "iat", leeway: 60, &finding)
        },
        Rule(
            "ssws-lifetime", "61 s from iat to exp; with ssws-profile = devices 300 s", validatorPageAndDevices,
            orFail: .sswsLifetime
        ) { facts, finding in facts.compact?.lifetime(atMost: facts.longestLife, from: .claims(["iat"]), &finding) },
    ]

    // MARK: - Uses

    private static let deviceUses = [
        Rule(
            "ssws-jti-unused", "a jti with which this device has not answered before", "ours", .ours,
            orFail: .sswsReplayed
        ) { facts, finding in
            guard let id = facts.compact?.claims?["jti"]?.string else { return nil }
            return finding.judge(.text(id), !facts.isUsed)
        },
        Rule(
            "ssws-transaction", expects: .text("tx with the id of the path's transaction, which is the factor's"),
            source: validatorPage, orFail: [.transactionNotFound],
            by: { Refused(.transactionNotFound, ["id": .string($0.path.transaction)]) },
            judge: { facts, finding in
                guard let claims = facts.compact?.claims else { return nil }
                guard let transaction = facts.transaction else {
                    return finding.judge(
                        .text("no transaction \(facts.path.transaction) of factor \(facts.path.factor)"), false)
                }
                return finding.judge(
                    claims["tx"].map(Fact.json) ?? .absent,
                    claims["tx"]?.string?.hasSameBytes(as: transaction.id) == true)
            }),
        Rule(
            "ssws-transaction-open", "a transaction that waits for its answer", "codes, E0000079",
            orFail: .transactionClosed
        ) { facts, finding in
            guard facts.compact != nil, let transaction = facts.transaction else { return nil }
            let result = transaction.result(at: facts.moment)
            return finding.judge(.text("\(transaction.id), whose result is \(result.rawValue)"), result == .waiting)
        },
    ]
}
