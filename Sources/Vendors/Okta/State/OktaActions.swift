import Emulation

/// What can happen in the organization without a request of a client (all ours).
extension Okta {
    static let actions: [VendorAction<Okta>] =
        deviceActions + originActions + userActions + factorActions + consentActions + claimActions
        + [.drillKeys(of: "authorization server")]
}
