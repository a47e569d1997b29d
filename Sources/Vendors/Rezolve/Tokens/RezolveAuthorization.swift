import Emulation
import JSON
import Tokens

/// What only the state can tell: who the customer is, and for RUA the key and the session too.
extension Rezolve {
    func authorize(_ call: inout RezolveCall, _ state: inout RezolveState) {
        guard let token = call.credentials.token else { return }
        var facts = call.credentials
        switch call.route.access {
        case .customer:
            facts.pathPartner = .value(call.parameters["partner"])
            facts.pathEntity = .value(call.parameters["entity"])
        case .guestLogin:
            // A registration JWT may be anybody's of the partner; which guest is meant, only the body says.
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
