import HTTPEngine
import Synchronization

/// The system's authorities and the local one. Rebuilt only when the local certificate changes, since that takes many
/// times as long as a handshake.
final class KeptTrust: Sendable {
    private let folder: String?
    private let kept = Mutex<(certificate: [UInt8], trust: TLSTrust)?>(nil)

    /// Uses the local authority in that folder.
    init(folder: String?) {
        self.folder = folder
    }

    /// The current trust; a damaged local certificate is ignored.
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
