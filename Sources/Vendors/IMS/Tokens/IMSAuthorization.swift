import Emulation
import JSON
import Tokens

/// Checks that need the state.
extension IMS {
    func authorize(_ call: inout IMSCall, _ state: inout State) {
        switch call.route.access {
        case .open, .operator: return
        case .token, .user: break
        }
        var facts = call.credentials
        facts.isRefused = call.findings.failure != nil
        if facts.isGenuine, !facts.isRefused { facts.tokenUse = useTokenID(of: facts, call, &state) }
        if case .user = call.route.access { facts.findUser(in: state) }
        call.findings.judge(facts, by: Self.userRules)
    }

    /// Notes that a token was used, unless the request was refused earlier; a refused user has used it too.
    private func useTokenID(of facts: IMSFacts, _ call: IMSCall, _ state: inout State) -> IMSFacts.TokenUse? {
        guard let token = facts.token, let issuer = facts.issuer, issuer.record.replay != .off,
            let id = token.tokenID, let expiry = token.compact.date("exp").seconds()
        else { return nil }
        // Kept as long as the token is valid, including the leeway.
        let end = expiry + Double(issuer.expiryLeeway(call.switches))
        let device = call.request.fields[.deviceID] ?? ""
        let earlier = state.tokenUses.use(
            id, of: issuer.record.issuer, by: device, until: end, at: call.moment.unixSeconds)
        return earlier.map { .repeated(by: $0, now: device) } ?? .first
    }

    /// The likely intended user when no enterprise id in the tenant matches the subject.
    fileprivate static func namesake(
        of subject: String, in tenant: String, _ issuer: IMSIssuer, _ state: State
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

    /// The enrollment of a user for whom a valid token vouches (ours); `nil` when another user has the email already.
    static func adopted(_ subject: String, in tenant: String, _ state: State) -> IMSEnrollment? {
        let enrollment = IMSEnrollment(
            tenant: tenant, email: subject + "@adopted.invalid", enterpriseID: subject, isActive: true)
        let fits = subject.unicodeScalars.count <= IMSBody.longestText
        return fits && state.users.conflict(with: enrollment) == nil ? enrollment : nil
    }
}

extension IMSFacts {
    /// Finds the user that the token names.
    mutating func findUser(in state: IMSState) {
        guard let issuer, let name = token?.subject else { return }
        var subject = Subject(tenant: issuer.record.tenant, name: name)
        if let user = state.users.user(of: subject.tenant, enterpriseID: name) {
            subject.user = (user.number, user.state)
        } else {
            subject.isAdopted =
                switches.unknownUser == .adopt && IMS.adopted(name, in: subject.tenant, state) != nil
            subject.namesake = IMS.namesake(of: name, in: subject.tenant, issuer, state)
        }
        self.subject = subject
    }
}

extension IMS {
    typealias UserHandler = @Sendable (inout IMSCall, IMSUser, inout IMSState) throws(Refused) -> Reply

    /// A route's handler that finds the token's user, whom authorization found or allowed to be adopted.
    static func forUser(_ handler: @escaping UserHandler) -> Route<IMS>.Handler {
        { (call, state) throws(Refused) in
            let (tenant, subject) = try call.subject()
            if let user = state.users.user(of: tenant, enterpriseID: subject) {
                return try handler(&call, user, &state)
            }
            guard let enrollment = adopted(subject, in: tenant, state) else { throw Refusal(.userUnknown) }
            // The handler may still refuse; then the user is not enrolled.
            var next = state
            let user = next.users.enroll(enrollment, call.identifiers, at: call.moment)
            let reply = try handler(&call, user, &next)
            state = next
            return reply
        }
    }
}

extension Call<IMS> {
    func subject() throws(IMSRefusal) -> (tenant: String, subject: String) {
        guard let subject = credentials.token?.subject, let issuer = credentials.issuer else {
            throw Refusal(.tokenMissing, because: "nobody was authorized; expected a token")
        }
        return (issuer.record.tenant, subject)
    }
}
