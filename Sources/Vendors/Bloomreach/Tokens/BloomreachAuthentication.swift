import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// Authentication that needs neither body nor state.
extension Bloomreach {
    func token(of credentials: BloomreachFacts) -> CompactToken? { credentials.compact }

    func authenticate(_ arrival: BloomreachArrival, _ findings: inout Findings<BloomreachFailure>) -> BloomreachFacts {
        let fields = arrival.request.fields
        var presented = BloomreachFacts.Presented(
            access: arrival.route.access, isPost: arrival.request.method == .post,
            coding: fields[.contentEncoding], fields: fields)
        var facts = BloomreachFacts(self, arrival.switches, at: arrival.moment)
        if presented.access.openness != .open {
            let address = BloomreachAddress(arrival)
            presented.address = address
            presented.authorization = BloomreachAuthorization(arrival.request)
            facts.find(address)
            take(presented.authorization, fields, &facts)
        }
        facts.presented = presented
        findings.judge(facts, by: Self.callerRules)
        if facts.token != nil, facts.project != nil {
            findings.judge(facts, by: facts.isStream ? Self.streamTokenRules : Self.customerTokenRules)
        }
        return facts
    }

    /// Takes the presented public key or token.
    private func take(_ authorization: BloomreachAuthorization, _ fields: FieldLines, _ facts: inout BloomreachFacts) {
        switch authorization {
        case .publicKey(let key): if !facts.isStream { facts.publicKey = facts.project?.publicKey(key) }
        case .token(let bytes):
            facts.bearer = BearerToken(fields)
            facts.take(recentTokens.reading(of: bytes, BloomreachToken.init(bytes:)))
        case .privateKey, .absent, .malformed: break
        }
    }
}
