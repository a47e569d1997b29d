import HTTPEngine
import Synchronization

/// The system's authorities and the local one, put together again only when the local one's file has changed: that takes
/// many times as long as a handshake.
final class KeptTrust: Sendable {
    private let folder: String?
    private let kept = Mutex<(certificate: [UInt8], trust: TLSTrust)?>(nil)

    /// Of the local authority in that folder.
    init(folder: String?) {
        self.folder = folder
    }

    /// Whom to trust now; a damaged file of the local authority keeps nothing else from being trusted.
    var current: TLSTrust {
        guard let folder, let certificate = LocalAuthority.certificate(in: folder) else { return .system }
        return kept.withLock { kept in
            if let kept, kept.certificate == certificate { return kept.trust }
            let trust = (try? TLSTrust(alsoIn: certificate)) ?? .system
            kept = (certificate, trust)
            return trust
        }
    }
}
