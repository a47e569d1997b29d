import Dispatch

// Sandboxes that leave memory, though calls may be under way in them.
extension SandboxDirectory {
    /// How long a hand-over waits for control calls under way, such as an import of a large state.
    private static let patience = DispatchTimeInterval.seconds(2)

    /// Hands sandboxes over to the keeper: from then on they answer nobody, and must be fetched again.
    ///
    /// Those that cannot be kept now, such as on a full disk, stay as they are.
    package func handOver(_ sandboxes: [Sandbox]) {
        guard let keeper else { return }
        // Most is written before anybody is turned away, and what cannot be written shows.
        let written = keeper.save(sandboxes)
        lock(Set(written.map { place(of: $0.name) }).sorted()[...]) {
            for sandbox in written { sandbox.refuseControlCalls() }
            let deadline = DispatchTime.now() + Self.patience
            let quiet = written.filter { $0.awaitControlCalls(until: deadline) }
            for sandbox in quiet { sandbox.seal() }
            let closed = Set(keeper.close(quiet).map(ObjectIdentifier.init))
            for sandbox in written {
                if closed.contains(ObjectIdentifier(sandbox)) {
                    discard(sandbox)
                    sandbox.end()
                } else {
                    sandbox.unseal()
                }
            }
        }
    }

    /// Drops a sandbox that the keeper no longer has; what it holds counts no more.
    package func abandon(_ sandbox: Sandbox) {
        opening[place(of: sandbox.name)].lock.withLock { _ in
            sandbox.seal()
            discard(sandbox)
            sandbox.end()
        }
    }

    /// Holds several of the locks for opening, always taken in the same order.
    private func lock(_ places: ArraySlice<Int>, _ body: () -> Void) {
        guard let first = places.first else { return body() }
        opening[first].lock.withLock { _ in lock(places.dropFirst(), body) }
    }

    func place(of name: String) -> Int { Int(Self.hash(name) % UInt64(opening.count)) }

    /// Drops a sandbox, and whatever is kept of it.
    ///
    /// - Returns: whether anything was kept.
    func forget(_ sandbox: Sandbox) -> Bool {
        // Nobody opens it anew before it is gone.
        opening[place(of: sandbox.name)].lock.withLock { _ in
            // Sealed first, so that nobody brings it back by a change.
            sandbox.seal()
            let wasThere = discard(sandbox)
            sandbox.end()
            return wasThere && keeper?.forget(sandbox.name) == true
        }
    }
}
