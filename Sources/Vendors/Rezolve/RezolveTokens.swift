import Emulation
import JSON
import Tokens

extension TokenDraft {
    /// A login JWT. Source: JWT page, "Logging in a User"; the member order is that of its samples.
    static func login(entityID: String, partnerEntityID: String, deviceID: String, expiry: Moment) -> TokenDraft {
        TokenDraft(
            header: ["auth": "v2", "alg": "HS512", "typ": "JWT"],
            claims: [
                "rezolve_entity_id": .string(entityID), "partner_entity_id": .string(partnerEntityID),
                "exp": JSON(expiry.wholeSeconds), "device_id": .string(deviceID),
            ])
    }

    /// A registration JWT. Source: JWT page, "Create the Registration JWT".
    static func registration(partnerEntityID: String, expiry: Moment) -> TokenDraft {
        TokenDraft(
            header: ["alg": "HS512", "typ": "JWT"],
            claims: [
                "rezolve_entity_id": .string(RezolveToken.noEntity), "partner_entity_id": .string(partnerEntityID),
                "exp": JSON(expiry.wholeSeconds),
            ])
    }
}

extension Rezolve {
    private static let members: [(name: String, about: String)] = [
        ("partner", "id of the partner whose auth key signs; by default the first one with a key"),
        ("customer", "entity id of the customer; by default the partner's first one"),
        (
            "partner_entity_id",
            "the partner's id of the user; by default the customer's, or user-2001 for a registration"
        ),
        ("device_id", "the device; by default the sample device"),
        ("expires_in", "seconds from now to exp; by default 1800"),
    ]

    /// Defects besides the general ones.
    private enum OwnDefect: String, CaseIterable {
        case otherAlgorithm = "alg-hs256"
        case otherUser = "other-user"
        case otherDevice = "wrong-device"
        /// As in a sample app of the vendor: the member is named like its value.
        case misnamedVersion = "v2-header-bug"

        static let all = allCases.map(\.rawValue)
        /// A registration JWT has neither a device nor the header `auth`.
        static let ofRegistrations = [otherAlgorithm, otherUser].map(\.rawValue)
    }

    static let tokenKinds = [
        TokenKind(
            name: "registration", about: "registers a user, and may open that user's session", members: members,
            defects: OwnDefect.ofRegistrations),
        TokenKind(name: "login", about: "opens a customer's session", members: members, defects: OwnDefect.all),
        TokenKind(
            name: "logout", about: "a login token that has already expired, which logs the app out", members: members,
            defects: OwnDefect.all),
    ]

    func mint(_ order: inout MintRequest, in setting: TokenSetting<Rezolve>) throws(ControlRefusal) -> String {
        let partner = try signer(try order.string("partner"))
        let key = try ControlRefusal.require(
            partner.authKey, "partner \(partner.id) has no auth key, so nothing can be signed for it")
        let draft = try draft(of: partner, &order, in: setting)
        return try order.mint(
            UnsignedToken(draft, by: key), at: setting.moment, own: OwnDefect.init(rawValue:)
        ) { apply($0, to: &$1, of: partner, in: setting) }
    }

    private func signer(_ id: String?) throws(ControlRefusal) -> RezolvePartner {
        guard let id else {
            return try ControlRefusal.require(
                accounts.partners.first(where: { $0.authKey != nil }), "no partner has an auth key")
        }
        return try accounts.partner(named: id)
    }

    private func draft(
        of partner: RezolvePartner, _ order: inout MintRequest, in setting: TokenSetting<Rezolve>
    ) throws(ControlRefusal) -> TokenDraft {
        let named = try order.string("customer")
        let partnerEntityID = try order.string("partner_entity_id")
        let device = try order.string("device_id") ?? accounts.sampleDeviceID
        let standard = order.kind == "logout" ? Self.logoutLifetime : Self.sessionLifetime
        let expiry = setting.moment + (try order.int("expires_in").map { .seconds($0) } ?? standard)
        if order.kind == "registration" {
            return .registration(partnerEntityID: partnerEntityID ?? "user-2001", expiry: expiry)
        }
        let known = named.map { setting.state.customers[$0] } ?? firstCustomer(of: partner, in: setting.state)
        let entity = try ControlRefusal.require(
            named ?? known?.entityID, "partner \(partner.id) has no customer; name one with the member customer")
        return .login(
            entityID: entity, partnerEntityID: partnerEntityID ?? known?.partnerEntityID ?? "user-2001",
            deviceID: device, expiry: expiry)
    }

    private func firstCustomer(of partner: RezolvePartner, in state: State) -> RezolveCustomer? {
        accounts.customers.first { $0.partnerID == partner.id }
            ?? state.customers.all.filter { $0.partnerID == partner.id }.min { $0.entityID < $1.entityID }
    }

    private func apply(
        _ defect: OwnDefect, to token: inout UnsignedToken, of partner: RezolvePartner,
        in setting: TokenSetting<Rezolve>
    ) {
        switch defect {
        case .otherAlgorithm:
            token.content.header["alg"] = "HS256"
            token.algorithm = .hs256
        case .otherUser:
            let named = token.content.claims["partner_entity_id"]?.string
            let other = setting.state.customers.all
                .filter { $0.partnerID == partner.id && named.map($0.partnerEntityID.hasSameBytes) != true }
                .min { $0.entityID < $1.entityID }
            token.content.claims["partner_entity_id"] = .string(other?.partnerEntityID ?? "somebody-else")
            // A registration JWT names its user only by the partner's id.
            if token.content.claims["rezolve_entity_id"]?.string == RezolveToken.noEntity { return }
            token.content.claims["rezolve_entity_id"] = .string(other?.entityID ?? "somebody-else")
        case .otherDevice: token.content.claims["device_id"] = "another-device"
        case .misnamedVersion:
            token.content.header = JSONObject(
                token.content.header.map { $0.name == "auth" ? ("v2", "v2") : ($0.name, $0.value) })
        }
    }

    /// Partners sign with secrets shared with Rezolve, and RUA on their behalf; no keys are published.
    var secretKeys: [SecretKey] { accounts.partners.compactMap(\.authKey) }

    var secretTexts: [String] { secretKeys.map(\.text) + accounts.users.compactMap(\.password) }

    func secrets(in state: State) -> [SecretLedger] { [state.users.secrets] }

    var samples: [(label: String, value: String)] {
        accounts.partners.map {
            (
                label: "partner \($0.id)\($0.authKey == nil ? " (without auth key)" : ""), api key", value: $0.apiKey
            )
        }
            + accounts.customers.map {
                (label: "customer of partner \($0.partnerID), entity id", value: $0.entityID)
            } + [(label: "device id", value: accounts.sampleDeviceID)]
    }

    func sampleRequest(in setting: TokenSetting<Rezolve>) throws(ControlRefusal) -> SampleRequest {
        let partner = try signer(nil)
        // A new user each time, so that the command works again after a restart.
        let name = "user-\(Int(setting.moment.unixSeconds * 1000))"
        let token = try mint("registration", ["partner_entity_id": .string(name)], in: setting)
        return SampleRequest(
            endpoint: .post("/api/v1/authentication/register"),
            fields: [
                ("content-type", "application/json"), ("x-rezolve-partner-apikey", partner.apiKey),
                ("authorization", "Bearer \(token)"),
            ], body: #"{"email":"user@example.test"}"#)
    }
}

// MARK: - Judging a token without its request

extension Rezolve {
    static let rules = [
        ("core: api key and token", tokenRules), ("core: customer and device", ownershipRules),
        ("guests: api key", guestRules), ("RUA: api key", signInRules), ("RUA: session", sessionRules),
        ("RUA: token of a session", sessionTokenRules),
    ].flatMap { $1.listing(of: identity.id, about: $0) }

    static let requestFacts: [(name: String, about: String)] = [
        ("partner", "the partner's id in the path"), ("entity", "the customer's id in the path"),
        ("device_id", "the field x-rezolve-device-id"),
    ]

    /// Judges a token without its request: the partner is the one whose key fits, unless `partner` names one.
    func explain(
        _ text: String, knowing context: JSONObject, in setting: TokenSetting<Rezolve>,
        _ findings: inout Findings<RezolveFailure>
    ) -> (kind: String?, account: String?) {
        let token = RezolveToken(text)
        let signer = signer(of: token)
        let partner = context["partner"]?.string.flatMap(accounts.partner(id:)) ?? signer
        var facts = RezolveFacts(self, setting.switches, at: setting.moment)
        (facts.token, facts.partner, facts.signer) = (token, partner, partner ?? likelySigner(of: token))
        findings.judge(facts, by: Self.tokenRules)
        if token.kind == .login {
            func presented(_ name: String) -> RezolveFacts.Presented {
                context[name]?.string.map { .value($0) } ?? .unknown
            }
            facts.pathPartner = presented("partner")
            facts.pathEntity = presented("entity")
            facts.device = presented("device_id")
            facts.findOwner(in: setting.state)
            findings.judge(facts, by: Self.ownershipRules)
        }
        return (token.compact.claims == nil ? nil : token.kind.rawValue, signer.map { "partner \($0.id)" })
    }

    /// The partner whose key explains the signature by a mistake, else any one with a key, to show that none fits.
    private func likelySigner(of token: RezolveToken) -> RezolvePartner? {
        let candidates = accounts.partners.filter { $0.authKey != nil }
        return candidates.first { $0.authKey.flatMap { token.compact.mistake(with: $0) { [] } } != nil }
            ?? candidates.first
    }

    private func signer(of token: RezolveToken) -> RezolvePartner? {
        accounts.partners.first { partner in
            guard let key = partner.authKey else { return false }
            return key.verification.algorithms.contains { token.compact.isSigned(by: key.verification, algorithm: $0) }
        }
    }
}
