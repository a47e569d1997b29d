import Emulation
import Synchronization

/// The sandbox that a control call selects, created when the call first needs it.
///
/// A call that is refused, or one such as `health` that concerns no sandbox, creates none.
final class SelectedSandbox: Sendable {
    let name: String
    /// How the call named it.
    let selector: SandboxSelector
    private let directory: SandboxDirectory
    private let found: Mutex<Sandbox?>

    /// Looks up the sandbox of that name, without creating it.
    init(_ name: String, by selector: SandboxSelector, of directory: SandboxDirectory) {
        self.name = name
        self.selector = selector
        self.directory = directory
        found = Mutex(directory.existing(name))
    }

    var existing: Sandbox? { found.withLock(\.self) }

    /// The sandbox, created if needed; the same one for the duration of the call.
    var sandbox: Sandbox {
        found.withLock { found in
            let sandbox = found ?? directory.sandbox(name)
            found = sandbox
            return sandbox
        }
    }
}
