#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Keeps two servers from saving to the same place, where the one that writes last would overwrite the other's state.
///
/// The lock is on a separate file, since each save replaces a state file. The system releases it when the process ends
/// for any reason; a leftover file means nothing. Replicas share one, which then keeps away only those that want the
/// place for themselves.
package final class StateLock: Sendable {
    /// Why the lock was not taken.
    package enum Failure: Error {
        /// Another process holds it: its id, if it is known.
        case taken(by: Int?)
        /// The lock file cannot be opened.
        case system(Files.Failure)
    }

    private let path: String
    private let descriptor: Int32
    private let isShared: Bool
    /// Why the file system has no locks, so that only its user can keep other servers away; `nil` when it has.
    package let lack: Files.Failure?

    /// Takes the lock at a path, for this process alone or to share it with others.
    package init(_ path: String, isShared: Bool = false) throws(Failure) {
        self.path = path
        self.isShared = isShared
        (descriptor, lack) = try Self.open(path, isShared ? LOCK_SH : LOCK_EX)
        write()
    }

    deinit {
        // Removed while locked, and only if it is still this file: nobody else can hold it then.
        if descriptor >= 0, !isShared, Self.lies(descriptor, at: path) { unlink(path) }
        if descriptor >= 0 { close(descriptor) }
    }

    /// The locked file, or -1 with the reason on a file system without locks.
    private static func open(_ path: String, _ kind: Int32) throws(Failure) -> (Int32, lack: Files.Failure?) {
        // A server that ends may remove the file between opening and locking it.
        for _ in 0..<100 {
            let descriptor: Int32
            do {
                descriptor = try Files.descriptor(of: path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode: 0o600)
            } catch {
                throw .system(error)
            }
            guard flock(descriptor, kind | LOCK_NB) == 0 else {
                let failure = Files.Failure.last
                defer { close(descriptor) }
                if failure.code == EINTR { continue }
                guard failure.code != EWOULDBLOCK else { throw .taken(by: owner(descriptor)) }
                return (-1, failure)
            }
            if lies(descriptor, at: path) { return (descriptor, nil) }
            close(descriptor)
        }
        throw .taken(by: nil)
    }

    /// Whether the open file is the one at that path.
    private static func lies(_ descriptor: Int32, at path: String) -> Bool {
        var (open, named) = (stat(), stat())
        return fstat(descriptor, &open) == 0 && lstat(path, &named) == 0 && open.st_ino == named.st_ino
            && open.st_dev == named.st_dev
    }

    /// The holder of the lock according to the file.
    private static func owner(_ descriptor: Int32) -> Int? {
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return Int(String(decoding: bytes[..<count].prefix { $0 >= UInt8(ascii: "0") }, as: UTF8.self))
    }

    /// Writes the process id for the message of a second server. Without it that message only says less.
    private func write() {
        guard descriptor >= 0, !isShared else { return }
        let text = Array("\(getpid())\n".utf8)
        ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.count, 0)
    }
}
