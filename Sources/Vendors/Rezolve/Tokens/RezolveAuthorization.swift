import Emulation
import JSON
import Tokens

/// Checks that need the state: the customer, and for RUA also the key and the session.
extension Rezolve {
    func authorize(_ call: inout RezolveCall, _ state: inout State) {
        guard let token = call.credentials.token else { return }
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
