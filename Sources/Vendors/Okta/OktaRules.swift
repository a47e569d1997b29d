import Emulation

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
