import Synchronization

/// The vendors that a server answers with, which a reload can replace at once while it runs.
package final class VendorsInForce: Sendable {
    private let current: Mutex<LoadedVendors>
    /// Each vendor, in order.
    let vendors: [any AnyVendorInForce]
    /// Secrets of the server itself.
    private let ownSecrets: [KnownSecrets]

    /// Creates the set from loaded vendors.
    ///
    /// - Parameter secrets: the server's own secrets, such as the control API's token.
    package init(_ loaded: LoadedVendors, hiding secrets: [String] = []) {
        current = Mutex(loaded)
        vendors = loaded.vendors.map { $0.putInForce() }
        ownSecrets = secrets.isEmpty ? [] : [KnownSecrets(secrets)]
    }

    /// A redactor for the secrets in these vendor states, in the fixtures and in the server itself.
    func redactor(_ index: SecretIndex, _ sandboxed: [any SandboxedVendor]) -> Redactor {
        let (secrets, published) = loaded.secrets.texts
        return Redactor(ownSecrets + [secrets] + index.layers(of: sandboxed), published: published)
    }

    /// The vendors in force. Callers that need several values should read it once.
    package var loaded: LoadedVendors { current.withLock { $0 } }

    /// Replaces all of them; callers that already hold the old ones finish with them.
    package func replace(with loaded: LoadedVendors) {
        let old = current.withLock { current in
            let old = current
            current = loaded
            for (place, vendor) in zip(vendors, loaded.vendors) { place.replace(with: vendor) }
            return old
        }
        // Destroyed here, after unlocking.
        withExtendedLifetime(old) {}
    }
}
