import Synchronization

/// One vendor as the fixtures in force make it, which every sandbox asks when an exchange begins.
final class VendorInForce<V: Vendor>: AnyVendorInForce {
    private let current: Mutex<VendorRuntime<V>>

    init(_ runtime: VendorRuntime<V>) {
        current = Mutex(runtime)
    }

    var runtime: VendorRuntime<V> { current.withLock { $0 } }

    func replace(with vendor: any LoadedVendor) {
        guard let runtime = vendor as? VendorRuntime<V> else {
            // Each reading has the vendors of the first at the same places, so another one is a fault of ours.
            preconditionFailure("another vendor stands in the place of \(V.identity.id)")
        }
        // The old one is destroyed by whoever replaces it, not under this lock.
        current.withLock { $0 = runtime }
    }

    func makeStore(_ settings: Settings, in sandbox: SandboxIdentity, _ alarm: Alarm, _ index: Int)
        -> any SandboxedVendor
    {
        VendorStateStore(self, settings: settings, sandbox: sandbox, alarm: alarm, index: index)
    }
}

/// A ``VendorInForce``, its own types hidden.
public protocol AnyVendorInForce: Sendable {
    /// Has a later reading of the same vendor answer from now on.
    func replace(with vendor: any LoadedVendor)
    /// A fresh state for a sandbox, whose alarm it is, and in which the vendor has that index.
    func makeStore(_ settings: Settings, in sandbox: SandboxIdentity, _ alarm: Alarm, _ index: Int)
        -> any SandboxedVendor
}
