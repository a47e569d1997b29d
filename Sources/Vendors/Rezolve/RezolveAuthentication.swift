import Emulation
import HTTPTypes
import JSON
import Tokens

extension HTTPField.Name {
    /// The partner's api key. Source: JWT page for registration, QA tests for the rest.
    static let partnerAPIKey = Self("x-rezolve-partner-apikey") ?? .authorization
    /// The device id. Source: docs, change log.
    static let deviceID = Self("x-rezolve-device-id") ?? .authorization
}

// MARK: - What needs no state

extension Rezolve {
    func authenticate(_ arrival: RezolveArrival, _ findings: inout Findings<RezolveFailure>) -> RezolveFacts {
        var facts = RezolveFacts(self, arrival.switches, at: arrival.moment)
        facts.isSampleRenewal = isSampleRenewal(arrival)
        facts.take(apiKey: arrival.request.fields.bytes(of: .partnerAPIKey))
        switch arrival.route.access {
        case .registration, .customer, .guestLogin:
            if facts.isSampleRenewal { return facts }
            if case .registration = arrival.route.access { facts.isRegistration = true }
            take(token: arrival, arrival.switches.bearerScheme, &facts)
            findings.judge(facts, by: Self.tokenRules)
        case .guestRegistration:
            facts.takeOnlyPartner()
            findings.judge(facts, by: Self.guestRules)
        case .signIn:
            facts.takeOnlyPartner()
            findings.judge(facts, by: Self.signInRules)
        case .session:
            take(token: arrival, .lenient, &facts)
            findings.judge(facts, by: Self.sessionRules)
        }
        return facts
    }

    private func take(
        token arrival: RezolveArrival, _ scheme: RezolveSwitches.BearerScheme, _ facts: inout RezolveFacts
    ) {
        let bearer = BearerToken(
            arrival.request.fields, scheme: scheme == .required ? .once : .upToTwice, in: arrival.request)
        facts.bearer = bearer
        facts.token = bearer.bytes.map { recentTokens.reading(of: $0, RezolveToken.init(bytes:)) }
    }

    /// The JWT page's iOS sample renews its token with device data and no credential at all.
    private func isSampleRenewal(_ arrival: RezolveArrival) -> Bool {
        guard case .registration(alsoRenews: true) = arrival.route.access else { return false }
        return arrival.switches.iosSampleRenewal && arrival.request.fields.count(of: .partnerAPIKey) == 0
            && arrival.request.fields.count(of: .authorization) == 0
    }
}

/// Checks that need the state: the customer, and for RUA also the key and the session.
extension Rezolve {
    func authorize(_ call: inout RezolveCall, _ state: inout State) {
        // A registration has nothing to check here, so its facts are not even copied.
        guard let token = call.credentials.token, !call.credentials.isRegistration else { return }
        var facts = call.credentials
        switch call.route.access {
        case .customer:
            facts.pathPartner = .value(call.parameters["partner"])
            facts.pathEntity = .value(call.parameters["entity"])
        case .guestLogin:
            // A registration JWT may belong to any of the partner's users; only the body names the guest.
            guard token.kind == .login else { return }
            let body = try? JSON.parse(call.request.body)
            facts.pathEntity = body?["entityId"]?.string.map(RezolveFacts.Presented.value) ?? .unknown
        case .session(let acceptsExpired):
            let customer = state.customers[token.entityID]
            facts.find(customer, in: state)
            facts.signer = customer.flatMap { accounts.partner(id: $0.partnerID) }
            facts.isRenewal = acceptsExpired
            return call.findings.judge(facts, by: Self.sessionTokenRules)
        case .registration, .guestRegistration, .signIn: return
        }
        facts.device = call.request.fields[.deviceID].map { .value($0) } ?? .absent
        facts.findOwner(in: state)
        call.findings.judge(facts, by: Self.ownershipRules)
    }
}

/// What a request presents, and what Rezolve's rules check.
struct RezolveFacts: SecretFacts {
    typealias Failure = RezolveFailure

    /// A part of the request; a token can also be judged without a request.
    enum Presented {
        case unknown
        case absent
        case value(String)
    }

    /// The part of a customer that decides; the journal does not keep its books.
    struct Owner {
        let entityID: String
        let partnerID: String
        let partnerEntityID: String

        init(_ customer: RezolveCustomer) {
            (entityID, partnerID) = (customer.entityID, customer.partnerID)
            partnerEntityID = customer.partnerEntityID
        }
    }

    /// The session of the token's user on the token's device.
    struct Session {
        let user: Int
        let isLoggedOut: Bool

        init(_ user: RUAUser, on device: String) {
            self.user = user.id
            isLoggedOut = user.isLoggedOut(on: device)
        }
    }

    let switches: RezolveSwitches
    let moment: Moment
    /// Needed only to explain failures; released if there are none.
    private var vendor: Rezolve?

    /// Where the token was sent; `nil` without a request.
    var bearer: BearerToken?
    var token: RezolveToken?
    var apiKey: String?
    /// The partner that the api key names, or whose key fits.
    var partner: RezolvePartner?
    /// The partner whose key the signature is checked with.
    var signer: RezolvePartner?
    /// Whether the call registers a customer.
    var isRegistration = false
    /// Whether this is the renewal of the JWT page's iOS sample, which has no credential.
    var isSampleRenewal = false

    /// The customer that the token names.
    var owner: Owner?
    var session: Session?
    /// Why the token may name no customer.
    var hint: String?
    /// Whether the route renews a token, which may have expired.
    var isRenewal = false
    var pathPartner = Presented.unknown
    var pathEntity = Presented.unknown
    var device = Presented.unknown

    var accounts: RezolveAccounts? { vendor?.accounts }
    var compact: CompactToken? { token?.compact }
    var secret: SecretKey? { signer?.authKey }
    var otherSecrets: [SecretKey] { (accounts?.partners ?? []).compactMap(\.authKey) }
    var leewaySeconds: Int { switches.leewaySeconds }

    init(_ vendor: Rezolve, _ switches: RezolveSwitches, at moment: Moment) {
        (self.vendor, self.switches, self.moment) = (vendor, switches, moment)
    }

    /// Finds the partner that the api key names; a known key is not converted to text again.
    mutating func take(apiKey bytes: ArraySlice<UInt8>?) {
        guard let bytes else { return }
        partner = accounts?.partner(apiKey: bytes)
        apiKey = partner?.apiKey ?? String(decoding: bytes, as: UTF8.self)
        signer = partner
    }

    /// Without an api key, takes the only partner.
    mutating func takeOnlyPartner() {
        if apiKey == nil, accounts?.partners.count == 1 { partner = accounts?.partners.first }
    }

    mutating func dropExplanations() { vendor = nil }

    /// Finds the token's customer: by entity id, or for a registration JWT by the partner's own id.
    mutating func findOwner(in state: RezolveState) {
        guard let token else { return }
        let customer: RezolveCustomer? =
            switch token.kind {
            case .login: state.customers[token.entityID]
            case .registration:
                partner.flatMap { state.customer(partner: $0.id, partnerEntityID: token.partnerEntityID) }
            }
        find(customer, in: state)
    }

    /// Notes the customer and the token's session.
    mutating func find(_ customer: RezolveCustomer?, in state: RezolveState) {
        guard let token else { return }
        owner = customer.map(Owner.init)
        session = customer.flatMap { state.users.user(entity: $0.entityID) }.map { Session($0, on: token.deviceID) }
        hint = customer == nil ? state.hint(about: token) : nil
    }
}

/// A token as Rezolve reads it; its members are unverified.
final class RezolveToken: Sendable {
    /// What a token is for. Only `rezolve_entity_id` decides, since a sample app omits the header `auth` (ours).
    enum Kind: String, Sendable {
        case registration
        case login
    }

    /// The entity id of a customer who is not registered yet. Source: JWT page, JWT Payload.
    static let noEntity = ":NONE:"

    let compact: CompactToken
    let kind: Kind
    let entityID: String
    let partnerEntityID: String
    let deviceID: String
    /// Whether there is an `nbf`; few tokens have one.
    let hasBeginning: Bool

    convenience init(_ text: String) { self.init(bytes: Array(text.utf8)) }

    init(bytes: [UInt8]) {
        compact = CompactToken(bytes: bytes)
        let claims = compact.claims
        entityID = claims?["rezolve_entity_id"]?.string ?? ""
        partnerEntityID = claims?["partner_entity_id"].flatMap(Self.partnerEntityID) ?? ""
        deviceID = claims?["device_id"]?.string ?? ""
        kind = entityID.hasSameBytes(as: Self.noEntity) ? .registration : .login
        hasBeginning = claims?["nbf"] != nil
    }

    /// The length of the partner's id for the user, in characters.
    var userLength: Int {
        // Characters are counted only if needed: there are never more of them than bytes.
        let bytes = partnerEntityID.utf8.count
        return bytes <= 255 ? bytes : partnerEntityID.count
    }

    /// A JSON integer becomes its decimal string (ours): the vendor calls the id "numerical, or a string". The digits
    /// are kept exactly, so ids beyond 2^53 work too.
    private static func partnerEntityID(_ claim: JSON) -> String? {
        claim.string ?? claim.number.flatMap { $0.isInteger ? $0.literal : nil }
    }
}

/// Whose token it is, whose path, and which device.
///
/// Source: "token belongs to another user" and the device check are documented (JWT page); treating an unknown customer
/// as another user, and the order, are ours.
extension Rezolve {
    static let ownershipRules = RuleList([
        CallRule(
            "session-open", id: "session-revoked", expects: .text("a session that was not logged out"),
            source: "ours; switch logout-revokes-core", .ours, orFail: .tokenExpired
        ) { facts, finding in facts.switches.logoutRevokesCore == .yes ? facts.judgeSession(&finding) : nil },
        CallRule(
            "path-partner", expects: .text("the partner of the api key"), source: otherUser, orFail: .maskedOtherUser
        ) { facts, finding in facts.pathPartner.compare(with: facts.partner?.id, &finding) },
        CallRule(
            "registration-token-reuse", "a login JWT", "JWT page, Create the Session; switch registration-token-reuse",
            orFail: .maskedOtherUser
        ) { facts, finding in
            guard facts.token?.kind == .registration else { return nil }
            finding?.found = .text("a registration JWT")
            if facts.switches.registrationTokenReuse == .refuse { return .failed }
            finding?.expected = .text("any JWT of the customer")
            return .passed
        },
        customerKnown,
        CallRule(
            "customer-partner", expects: .text("a customer of the partner"), source: otherUser, orFail: .maskedOtherUser
        ) { facts, finding in
            facts.owner.flatMap {
                RezolveFacts.Presented.value($0.partnerID).compare(with: facts.partner?.id, &finding)
            }
        },
        CallRule(
            "path-entity", expects: .text("the customer of the token"), source: otherUser, orFail: .maskedOtherUser
        ) { facts, finding in facts.owner.flatMap { facts.pathEntity.compare(with: $0.entityID, &finding) } },
        partnerEntityID,
        CallRule(
            "device", "the claim device_id", "JWT page, Terminology: deviceId; switch device-check",
            orFail: .maskedDeviceMismatch
        ) { facts, finding in facts.judgeDevice(&finding) },
    ])

    private static let otherUser = "JWT page, 403: token belongs to another user"

    /// Refuses an unknown customer, or adopts it when the switch says so and the path names the same one.
    private static let customerKnown = CallRule(
        "customer-known", "a registered customer", "ours; switch unknown-entity", .ours, orFail: .maskedOtherUser
    ) { facts, finding in
        guard let token = facts.token, facts.owner == nil else { return nil }
        var isAdopted = false
        if case .value(let entity) = facts.pathEntity, facts.switches.unknownEntity == .adopt, token.kind == .login {
            isAdopted = token.entityID.hasSameBytes(as: entity)
        }
        let isLogin = token.kind == .login
        finding?.expected = .text(
            isLogin
                ? "rezolve_entity_id of a registered customer"
                : "partner_entity_id of a registered customer of partner \(facts.partner?.id ?? "of the api key")")
        finding?.found = .text(isLogin ? token.entityID : token.partnerEntityID)
        finding?.note = isAdopted ? "Switch unknown-entity creates the customer." : facts.hint
        return token.compact.claims == nil ? .notJudged : isAdopted ? .noted : .failed
    }

    private static let partnerEntityID = CallRule(
        "partner-entity-id", "the partner's id of the customer",
        "JWT page, Login JWT: your_partner_entity_id; switch partner-entity-id", orFail: .maskedOtherUser
    ) { facts, finding in
        guard let token = facts.token, let owner = facts.owner, facts.switches.partnerEntityID == .mustMatch else {
            return nil
        }
        let outcome = RezolveFacts.Presented.value(token.partnerEntityID).compare(with: owner.partnerEntityID, &finding)
        if outcome == .failed {
            finding?.note =
                token.partnerEntityID == facts.partner?.id
                ? "That is the partner's own id, as the sample apps send it; switch partner-entity-id = any accepts it."
                : "Switch partner-entity-id = any accepts another."
        }
        return outcome
    }
}

extension RezolveFacts {
    /// The device header equals the token's device.
    fileprivate func judgeDevice(_ finding: inout Finding?) -> Finding.Outcome? {
        guard let token, token.kind == .login else { return nil }
        switch switches.deviceCheck {
        case .off: return nil
        case .ifPresent:
            if case .absent = device { return nil }
            if token.deviceID.isEmpty { return nil }
        case .enforce: break
        }
        let outcome = device.compare(with: token.deviceID, &finding)
        if outcome == .failed {
            finding?.note = "The header x-rezolve-device-id must say the same as the claim device_id."
        }
        return outcome
    }
}

extension RezolveFacts.Presented {
    /// Whether this part of the request has the expected value, byte for byte.
    fileprivate func compare(with expected: String?, _ finding: inout Finding?) -> Finding.Outcome {
        finding?.expected = expected.map { .text($0) }
        switch self {
        case .unknown: return .notJudged
        case .absent:
            finding?.found = .absent
            return .failed
        case .value(let value):
            finding?.found = .text(value)
            return expected.map { $0.hasSameBytes(as: value) ? .passed : .failed } ?? .notJudged
        }
    }
}
