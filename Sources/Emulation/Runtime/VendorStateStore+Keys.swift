// The keys that a vendor's issuers sign with, and drills on them.
extension VendorStateStore {
    @usableFromInline
    var issuers: [IssuerKeys] {
        let content = snapshot()
        return content.runtime.vendor.issuers(in: content.state)
    }

    @usableFromInline
    var remoteKeys: [RemoteKeys] {
        let content = snapshot()
        return content.runtime.vendor.remoteKeys(in: content.state)
    }

    @usableFromInline
    func perform(
        _ drill: KeyDrill, at issuer: String, with pair: DeferredKeyPair?, in sandbox: Sandbox
    ) -> KeyDrillOutcome {
        change(at: runtime) { runtime, state in
            let vendor = runtime.vendor
            guard var keys = vendor.issuers(in: state).first(where: { $0.name == issuer }) else {
                return .unknownIssuer
            }
            guard keys.perform(drill, with: pair?.made, sandbox.identifiers) else { return .needsPair }
            vendor.store(keys, in: &state)
            return .done(keys)
        }
    }
}

public enum KeyDrillOutcome: Sendable {
    /// It was done, and these are the keys now.
    case done(IssuerKeys)
    /// Nothing was done, because an unused key pair is needed.
    case needsPair
    case unknownIssuer
}
