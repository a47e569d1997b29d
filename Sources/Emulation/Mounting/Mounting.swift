import Synchronization

/// The edition that a server answers from, which another one can replace at once while it runs.
public final class Mounting: Sendable {
    private let current: Mutex<Edition>

    /// A mounting of that edition.
    public init(_ edition: Edition) {
        current = Mutex(edition)
    }

    /// The edition in force. Whoever needs several things of it asks once.
    public var edition: Edition { current.withLock { $0 } }

    /// The vendor at that index.
    public func vendor(_ index: Int) -> any MountedVendor { current.withLock { $0.vendors[index] } }

    /// Replaces the edition; who has asked for the old one finishes with it.
    public func replace(with edition: Edition) {
        // The old one is destroyed behind the lock.
        let old = current.withLock { current in
            let old = current
            current = edition
            return old
        }
        withExtendedLifetime(old) {}
    }
}
