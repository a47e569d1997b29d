/// Something that the engine dealt with by itself, without asking its handler.
public struct EngineNote: Sendable, Hashable, CustomStringConvertible {
    /// What happened.
    public enum Event: Sendable, Hashable {
        /// Bytes were no valid request, and were answered with that status.
        case refused(status: Int, reason: String)
        /// A TLS handshake failed.
        case handshakeFailed(String)
    }

    /// What happened.
    public let event: Event
    /// The client's address without port.
    public let remoteAddress: String

    init(_ event: Event, remoteAddress: String) {
        self.event = event
        self.remoteAddress = remoteAddress
    }

    /// One line for people.
    public var description: String {
        switch event {
        case .refused(let status, let reason): "\(status) to \(remoteAddress): \(reason)"
        case .handshakeFailed(let reason): "TLS handshake with \(remoteAddress) failed: \(reason)"
        }
    }
}
