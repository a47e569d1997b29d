import Synchronization

/// The vendors that a server answers with, which later ones can replace at once while it runs.
public final class VendorsInForce: Sendable {
    private let current: Mutex<LoadedVendors>
    /// Each of them, in their order.
    let vendors: [any AnyVendorInForce]
    /// Secrets of the server itself.
    private let ownSecrets: [KnownSecrets]

    /// Those vendors.
    ///
    /// - Parameter secrets: what the server itself keeps secret, such as the control API's token.
    public init(_ loaded: LoadedVendors, hiding secrets: [String] = []) {
        current = Mutex(loaded)
        vendors = loaded.vendors.map { $0.putInForce() }
        ownSecrets = secrets.isEmpty ? [] : [KnownSecrets(secrets)]
    }

    /// Hides what is secret in these states of the vendors, in the fixtures and in the server itself.
    func redactor(_ index: SecretIndex, _ sandboxed: [any SandboxedVendor]) -> Redactor {
        let (secrets, published) = loaded.secrets.texts
        return Redactor(ownSecrets + [secrets] + index.layers(of: sandboxed), published: published)
    }

    /// The vendors in force. Whoever needs several things of it asks once.
    public var loaded: LoadedVendors { current.withLock { $0 } }

    /// Replaces them all; who has asked for the old ones finishes with them.
    public func replace(with loaded: LoadedVendors) {
        let old = current.withLock { current in
            let old = current
            current = loaded
            for (place, vendor) in zip(vendors, loaded.vendors) { place.replace(with: vendor) }
            return old
        }
        // Destroyed here, after the lock is released.
        withExtendedLifetime(old) {}
    }
}
