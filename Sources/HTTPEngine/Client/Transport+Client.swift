/// What a client needs from its transport.
extension Transport {
    /// Continues the handshake; true when it is complete.
    func establish() throws(ClientError) -> Bool {
        guard let session else { return true }
        switch session.shakeHands() {
        case .complete: return true
        case .waiting: return false
        case .failed:
            if let reason = session.distrust { throw .notTrusted(reason) }
            throw .tlsFailed(session.handshakeProblem ?? "the handshake failed")
        }
    }

    /// What to wait for before the handshake or reading continues.
    var interest: Interest { needs.contains(.writing) ? .writing : .reading }
}
