/// What a client asks of the way of its bytes.
extension Transport {
    /// Goes on with the handshake; true when nothing of it is left to do.
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

    /// What to wait for before the handshake or reading goes on.
    var interest: Interest { needs.contains(.writing) ? .writing : .reading }
}
