import Synchronization

/// The edition that a server answers from, which another one can replace at once while it runs.
public final class Mounting: Sendable {
    private let current: Mutex<Edition>
    /// Each vendor of the edition, in its order.
    let vendors: [any AnyVendorInForce]
    /// Secrets of the server itself.
    private let ownSecrets: [KnownSecrets]

    /// A mounting of that edition.
    ///
    /// - Parameter secrets: what the server itself keeps secret, such as the control API's token.
    public init(_ edition: Edition, hiding secrets: [String] = []) {
        current = Mutex(edition)
        vendors = edition.vendors.map { $0.putInForce() }
        ownSecrets = secrets.isEmpty ? [] : [KnownSecrets(secrets)]
    }

    /// Hides what is secret in these states of the vendors, in the fixtures and in the server itself.
    func redactor(_ index: SecretIndex, _ cells: [any StateCell]) -> Redactor {
        let (secrets, published) = edition.secrets.texts
        return Redactor(ownSecrets + [secrets] + index.layers(of: cells), published: published)
    }

    /// The edition in force. Whoever needs several things of it asks once.
    public var edition: Edition { current.withLock { $0 } }

    /// Replaces the edition; who has asked for the old one finishes with it.
    public func replace(with edition: Edition) {
        let old = current.withLock { current in
            let old = current
            current = edition
            for (place, vendor) in zip(vendors, edition.vendors) { place.replace(with: vendor) }
            return old
        }
        // Destroyed here, after the lock is released.
        withExtendedLifetime(old) {}
    }
}
