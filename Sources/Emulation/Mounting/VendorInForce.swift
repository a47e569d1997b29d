import Synchronization

/// One vendor as the fixtures in force make it, which every sandbox asks when an exchange begins.
final class VendorInForce<V: Vendor>: AnyVendorInForce {
    private let current: Mutex<ExchangeDesk<V>>

    init(_ desk: ExchangeDesk<V>) {
        current = Mutex(desk)
    }

    var desk: ExchangeDesk<V> { current.withLock { $0 } }

    func replace(with vendor: any MountedVendor) {
        guard let desk = vendor as? ExchangeDesk<V> else {
            // Every edition has the vendors of the first at the same places, so another one is a fault of ours.
            preconditionFailure("another vendor stands in the place of \(V.identity.id)")
        }
        // The old one is destroyed by whoever replaces the edition, not under this lock.
        current.withLock { $0 = desk }
    }

    func makeCell(_ settings: Settings, in sandbox: SandboxIdentity, _ alarm: Alarm, _ index: Int) -> any StateCell {
        VendorCell(self, settings: settings, sandbox: sandbox, alarm: alarm, index: index)
    }
}

/// A ``VendorInForce``, its own types hidden.
public protocol AnyVendorInForce: Sendable {
    /// Has a later reading of the same vendor answer from now on.
    func replace(with vendor: any MountedVendor)
    /// A fresh state for a sandbox, whose alarm it is, and in which the vendor has that index.
    func makeCell(_ settings: Settings, in sandbox: SandboxIdentity, _ alarm: Alarm, _ index: Int) -> any StateCell
}
