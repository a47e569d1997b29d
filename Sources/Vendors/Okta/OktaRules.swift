import Emulation
import JSON
import Tokens

extension Okta {
    static var rules: [RuleListing] {
        // A list, since the compiler gives up on a chain of so many `+` when the machine is busy.
        let lists: [[RuleListing]] = [
            clientRules.listing(of: identity.id, about: "client"),
            assertionUseRules.listing(of: identity.id, about: "client: use of an assertion"),
            OktaTokenRules.access.listing(of: identity.id, about: "access token"),
            OktaTokenRules.use.listing(of: identity.id, about: "access token: use"),
            apiRules.listing(of: identity.id, about: "caller of the management API"),
            apiAccessRules.listing(of: identity.id, about: "access token at the management API"),
            apiScopeRules.listing(of: identity.id, about: "access token at the management API: scope"),
            apiUseRules.listing(of: identity.id, about: "access token at the management API: use"),
            deviceFormRules.listing(of: identity.id, about: "token of a device: form"),
            deviceRules.listing(of: identity.id, about: "token of a device"),
            OktaProofRules.tokens.listing(of: identity.id, about: "proof at the token endpoint"),
            OktaProofRules.resources.listing(of: identity.id, about: "proof beside an access token"),
            OktaSubjectRules.access.listing(of: identity.id, about: "token to exchange"),
            OktaSubjectRules.native.listing(of: identity.id, about: "ID token beside a device secret"),
        ]
        return lists.flatMap(\.self)
    }
}

extension Finding? {
    /// Says what was found, and whether it is right.
    @inline(__always)
    mutating func judge(_ found: @autoclosure () -> Fact?, _ isRight: Bool) -> Finding.Outcome {
        self?.found = found()
        return isRight ? .passed : .failed
    }
}

extension CompactToken {
    /// Judges a claim by its value, which is `nil` when it is absent; a token without claims is not judged.
    @inline(__always)
    func claim(_ name: String, _ finding: inout Finding?, _ isRight: (JSON?) -> Bool) -> Finding.Outcome? {
        guard let claims else { return nil }
        return finding.judge(claims[name].map(Fact.json) ?? .absent, isRight(claims[name]))
    }
}
