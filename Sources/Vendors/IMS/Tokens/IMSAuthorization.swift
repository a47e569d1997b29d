import Emulation
import JSON
import Tokens

/// The last part of row 12, and rows 13 and 14: what only the state can tell.
///
/// Source: that users must be created, activated and not deactivated is documented (site), the tenants are ours.
extension IMS {
    func authorize(_ call: inout IMSCall, _ state: inout IMSState) {
        switch call.route.access {
        case .open, .operator: return
        case .token, .user: refuseUnlessGenuine(&call)
        }
        guard let token = call.credentials.token, let issuer = call.credentials.issuer else { return }
        switch call.route.access {
        case .open, .operator: return
        case .token: useTokenID(of: token, issuer, &call, &state)
        case .user:
            useTokenID(of: token, issuer, &call, &state)
            judgeUser(of: token, issuer, call.switches, state, &call.findings)
        }
    }

    /// Without a genuine signature nobody passes here, whatever the rules before have found (ours): a token may meet an
    /// issuer that becomes another one while its keys are asked for.
    private func refuseUnlessGenuine(_ call: inout IMSCall) {
        if call.credentials.isGenuine || call.findings.failure != nil { return }
        let coolDown = call.switches.coolDownSeconds
        call.findings.add(
            Finding(
                "signature-genuine", .failed, expected: .text("a signature by a key of the issuer"), found: .absent,
                source: "ours"),
            orFail: .keysUnavailable, with: ["retry_after": .string(String(coolDown))])
    }

    /// Notes that a token was used, unless the request was refused before; a user who is refused has used it too.
    private func useTokenID(
        of token: IMSToken, _ issuer: IMSIssuer, _ call: inout IMSCall, _ state: inout IMSState
    ) {
        guard issuer.record.replay != .off, let id = token.tokenID, call.findings.failure == nil,
            let expiry = token.compact.date("exp").seconds()
        else { return }
        // Kept as long as the token is good, which a leeway prolongs.
        let end = expiry + Double(issuer.expiryLeeway(call.switches))
        let device = call.request.fields[.deviceID] ?? ""
        let earlier = state.tokenUses.use(
            id, of: issuer.record.issuer, by: device, until: end, at: call.moment.unixSeconds)
        let isReplayed: Bool
        switch issuer.record.replay {
        case .off: isReplayed = false
        case .bindDevice: isReplayed = earlier.map { !$0.hasSameBytes(as: device) } ?? false
        case .singleUse: isReplayed = earlier != nil
        }
        let isSingle = issuer.record.replay == .singleUse
        call.findings.add(
            Finding(
                "token-id-unused", isReplayed ? .failed : .passed,
                expected: .text(isSingle ? "a jti of its own" : "the device of the first use"), found: .text(id),
                note: !isReplayed
                    ? nil
                    : isSingle
                        ? "replay of issuer \(issuer.record.name) is single-use, and this jti was used before."
                        : Self.otherDevice(device, than: earlier ?? ""),
                source: "seed, JWT Claims: jti, replay protection; the modes ours"),
            orFail: .tokenReplayed)
    }

    private static func otherDevice(_ device: String, than first: String) -> String {
        func named(_ device: String) -> String { device.isEmpty ? "none" : "“\(device)”" }
        return "x-ims-device-id was \(named(first)) at the first use, and is \(named(device)) now."
    }

    /// Rows 13 and 14.
    func judgeUser(
        of token: IMSToken, _ issuer: IMSIssuer, _ switches: IMSSwitches, _ state: IMSState,
        _ findings: inout Findings<IMSFailure>
    ) {
        guard let subject = token.subject else { return }
        let tenant = issuer.record.tenant
        guard let user = state.users.user(of: tenant, enterpriseID: subject) else {
            let isAdopted = switches.unknownUser == .adopt && Self.adopted(subject, in: tenant, state) != nil
            findings.add(
                Finding(
                    "user-known", isAdopted ? .noted : .failed,
                    expected: .text("the enterprise id of a user of tenant \(tenant)"), found: .text(subject),
                    note: isAdopted
                        ? "Switch unknown-user enrolls and activates the user."
                        : Self.namesake(of: subject, in: tenant, issuer, state),
                    source: "seed, JWT Claims: sub; switch unknown-user"),
                orFail: .userUnknown)
            return
        }
        findings.note(Finding("user-known", .passed, found: .text(user.id), source: "seed, JWT Claims: sub"))
        findings.add(
            Finding(
                "user-active", user.state == .active ? .passed : .failed,
                expected: .text(IMSUser.State.active.rawValue), found: .text(user.state.rawValue),
                note: Self.way(of: user, subject),
                source: "site: users are activated before use, and can be deactivated"),
            orFail: user.state == .deactivated ? .userDeactivated : .userNotActive)
    }

    /// How a user becomes active; `nil` for one who is.
    private static func way(of user: IMSUser, _ subject: String) -> String? {
        switch user.state {
        case .active: nil
        case .enrolled: "\(user.id) (\(subject)) has not activated the app: POST /ims/v1/activation does."
        case .deactivated: "\(user.id) (\(subject)) was deactivated: POST /ims/v1/users/\(user.id)/activate undoes it."
        }
    }

    /// Who is meant by a subject that is nobody's enterprise id in the tenant.
    private static func namesake(
        of subject: String, in tenant: String, _ issuer: IMSIssuer, _ state: IMSState
    ) -> String? {
        if let other = state.users.user(enterpriseID: subject) {
            return "\(other.id) of tenant \(other.tenant) has it; issuer \(issuer.record.name) belongs to tenant "
                + "\(tenant)."
        }
        let namesake =
            IMSUser.number(subject).flatMap { state.users[$0] }
            ?? state.users.user(of: tenant, activationID: subject) ?? state.users.user(of: tenant, email: subject)
        guard let user = namesake else { return nil }
        let known = user.enterpriseID.map { "has the enterprise id \($0)" } ?? "has no enterprise id yet"
        return "\(user.id) (activation id \(user.activationID), \(user.email)) \(known); sub is the enterprise id, no "
            + "other name."
    }

    /// The enrollment of a user for whom a valid token vouches (ours); `nil` when another one has the email already.
    static func adopted(_ subject: String, in tenant: String, _ state: IMSState) -> IMSEnrollment? {
        let enrollment = IMSEnrollment(
            tenant: tenant, email: subject + "@adopted.invalid", enterpriseID: subject, isActive: true)
        let fits = subject.unicodeScalars.count <= IMSBody.longestText
        return fits && state.users.conflict(with: enrollment) == nil ? enrollment : nil
    }
}

extension IMS {
    /// A handler of the token's own user.
    typealias UserHandler = @Sendable (inout IMSCall, IMSUser, inout IMSState) throws(IMSRefusal) -> Reply

    /// A route's handler that finds the user of the token, whom authorization has found to be there or to be adopted.
    static func forUser(_ handler: @escaping UserHandler) -> Route<IMS>.Handler {
        { (call, state) throws(IMSRefusal) in
            let (tenant, subject) = try call.subject()
            if let user = state.users.user(of: tenant, enterpriseID: subject) {
                return try handler(&call, user, &state)
            }
            guard let enrollment = adopted(subject, in: tenant, state) else { throw Refusal(.userUnknown) }
            // The handler may still refuse: then nobody was enrolled.
            var next = state
            let user = next.enroll(enrollment, call.identifiers, at: call.moment)
            let reply = try handler(&call, user, &next)
            state = next
            return reply
        }
    }
}

extension Call<IMS> {
    /// Whom the token names, in which tenant.
    func subject() throws(IMSRefusal) -> (tenant: String, subject: String) {
        guard let subject = credentials.token?.subject, let issuer = credentials.issuer else {
            throw Refusal(.tokenMissing, because: "nobody was authorized; expected a token")
        }
        return (issuer.record.tenant, subject)
    }
}
