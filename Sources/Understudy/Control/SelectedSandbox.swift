import Emulation
import Synchronization

/// The sandbox that a control call selects, which comes into being when the call first needs it.
///
/// A call that is refused, or one such as `health` that is about no sandbox, leaves none behind.
final class SelectedSandbox: Sendable {
    /// The sandbox's name.
    let name: String
    private let directory: SandboxDirectory
    private let found: Mutex<Sandbox?>

    /// The sandbox of that name, as far as it is there.
    init(_ name: String, of directory: SandboxDirectory) {
        self.name = name
        self.directory = directory
        found = Mutex(directory.existing(name))
    }

    /// The sandbox, if it is there.
    var existing: Sandbox? { found.withLock(\.self) }

    /// The sandbox, made if there is none; the same one for as long as the call lasts.
    var sandbox: Sandbox {
        found.withLock { found in
            let sandbox = found ?? directory.sandbox(name)
            found = sandbox
            return sandbox
        }
    }
}
