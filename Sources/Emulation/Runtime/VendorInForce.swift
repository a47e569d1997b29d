public import Synchronization

/// One vendor from the fixtures in force, which every sandbox reads when an exchange begins.
@usableFromInline
final class VendorInForce<V: Vendor>: AnyVendorInForce {
    @usableFromInline let current: Mutex<VendorRuntime<V>>

    init(_ runtime: VendorRuntime<V>) {
        current = Mutex(runtime)
    }

    @inlinable var runtime: VendorRuntime<V> { current.withLock { $0 } }

    @usableFromInline
    func replace(with vendor: any LoadedVendor) {
        guard let runtime = vendor as? VendorRuntime<V> else {
            // Every load has the same vendors in the same positions; anything else is a bug.
            preconditionFailure("another vendor stands in the place of \(V.identity.id)")
        }
        // The caller that replaces the old one destroys it, after unlocking.
        current.withLock { $0 = runtime }
    }

    @usableFromInline
    func makeStore(
        _ settings: Settings, in sandbox: SandboxIdentity, _ alarm: Alarm, _ changes: ChangeMark, _ index: Int
    ) -> any SandboxedVendor {
        VendorStateStore(self, settings: settings, sandbox: sandbox, alarm: alarm, changes: changes, index: index)
    }
}

/// A ``VendorInForce`` with its own types hidden.
public protocol AnyVendorInForce: Sendable {
    /// Lets a later load of the same vendor answer from now on.
    func replace(with vendor: any LoadedVendor)
    /// Creates a fresh state for a sandbox, with its alarm, its change mark, and the vendor's index in it.
    func makeStore(
        _ settings: Settings, in sandbox: SandboxIdentity, _ alarm: Alarm, _ changes: ChangeMark, _ index: Int
    ) -> any SandboxedVendor
}
