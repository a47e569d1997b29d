// Keys that a vendor's issuers sign with, and what can happen to them.
extension VendorMount {
    /// The secrets that the vendor shares with those who sign.
    public var sharedSecrets: [SharedSecret] { desk.vendor.sharedSecrets }

    /// The texts of the fixtures that nobody may see.
    public var secretTexts: [String] { desk.vendor.secretTexts }

    /// What a sandbox's state has learned since that mark that nobody may see.
    public func secrets(in cell: any StateCell, since mark: SecretMark?) -> (texts: [String], mark: SecretMark)? {
        VendorCell<V>.typed(cell).secrets(since: mark)
    }

    /// The issuers of a sandbox with their keys.
    public func issuers(in cell: any StateCell) -> [IssuerKeys] {
        let content = VendorCell<V>.typed(cell).snapshot(at: desk)
        return content.desk.vendor.issuers(in: content.state)
    }

    /// The keys that issuers publish elsewhere, as a sandbox has them.
    public func remoteKeys(in cell: any StateCell) -> [RemoteKeys] {
        let content = VendorCell<V>.typed(cell).snapshot(at: desk)
        return content.desk.vendor.remoteKeys(in: content.state)
    }

    /// Does a drill with the keys of an issuer.
    public func perform(
        _ drill: KeyDrill, at issuer: String, with pair: DeferredKeyPair?, in sandbox: Sandbox, cell: any StateCell
    ) -> KeyDrillOutcome {
        VendorCell<V>.typed(cell).change(at: desk) { vendor, state in
            guard var keys = vendor.issuers(in: state).first(where: { $0.name == issuer }) else {
                return .unknownIssuer
            }
            guard keys.perform(drill, with: pair?.made, sandbox.identifiers) else { return .needsPair }
            vendor.store(keys, in: &state)
            return .done(keys)
        }
    }
}

/// What became of a drill.
public enum KeyDrillOutcome: Sendable {
    /// It was done, and these are the keys now.
    case done(IssuerKeys)
    /// Nothing was done, since a pair is needed that nobody has used.
    case needsPair
    /// The vendor has no issuer of that name.
    case unknownIssuer
}
