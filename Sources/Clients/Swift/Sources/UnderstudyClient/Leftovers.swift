#if os(macOS) || os(Linux)
    import Foundation

    /// The servers that nobody has stopped, which end with this process.
    ///
    /// Test frameworks have no last moment that suites share, and a server that a test forgot must not outlive the run.
    enum Leftovers {
        static func add(_ process: Int32, _ folder: URL) {
            _ = endsThem
            lock.withLock { running[process] = folder }
        }

        static func remove(_ process: Int32) { lock.withLock { _ = running.removeValue(forKey: process) } }

        private static let lock = NSLock()
        /// Read and changed under the lock only; `Mutex` needs macOS 15.
        private nonisolated(unsafe) static var running: [Int32: URL] = [:]

        /// Registers the end, once.
        private static let endsThem: Void = {
            atexit {
                for (process, folder) in Leftovers.lock.withLock({ Leftovers.running }) {
                    kill(process, SIGTERM)
                    try? FileManager.default.removeItem(at: folder)  // Nobody is left to be told.
                }
            }
        }()
    }
#endif
