import Emulation

/// Leaving without anybody noticing: first new requests go elsewhere, then the sandboxes.
extension Emulator {
    /// The replica's name; `nil` for a server alone.
    package var replica: String? { keeper?.replica?.name }

    /// Why a proxy should send requests elsewhere; `nil` when it should not.
    var reasonToStayAway: String? {
        if isDraining.load(ordering: .relaxed) { return "the server is stopping" }
        guard let replica = keeper?.replica, !replica.lease.isValid else { return nil }
        return "the replica cannot show in the folder that it is alive"
    }

    /// Fails readiness from now on, while everything is still answered.
    package func beginDraining() { isDraining.store(true, ordering: .relaxed) }

    /// Gives all sandboxes to the other replicas, which closes their sockets with 1001. A server alone keeps them.
    package func handOverAll() {
        guard let replica = keeper?.replica else { return }
        replica.leave()
        sandboxes.handOver(sandboxes.all)
    }

    /// Ends the replica's lease, so that what it could not hand over can be taken over at once.
    package func endLease() { keeper?.replica?.finish() }
}
