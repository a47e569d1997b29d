/// An event that the engine handled without its handler.
public struct EngineNote: Sendable, Hashable, CustomStringConvertible {
    package enum Event: Sendable, Hashable {
        /// The bytes were not a valid request and got that status.
        case refused(status: Int, reason: String)
        /// A TLS handshake failed.
        case handshakeFailed(String)
    }

    package let event: Event
    /// The client's address without the port.
    package let remoteAddress: String

    /// The event in one line.
    public var description: String {
        switch event {
        case .refused(let status, let reason): "\(status) to \(remoteAddress): \(reason)"
        case .handshakeFailed(let reason): "TLS handshake with \(remoteAddress) failed: \(reason)"
        }
    }
}
