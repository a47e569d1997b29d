#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Keeps two servers from saving to the same file, where the one that ends last would overwrite the other's state.
///
/// The lock is on a separate file, since each save replaces the state file. The system releases it when the process
/// ends for any reason; a leftover file means nothing.
final class StateLock {
    private let path: String
    private let descriptor: Int32

    /// Takes the lock at a path, for a file that users know by that name.
    ///
    /// - Throws: when another server holds it, or the folder is not writable.
    init(_ path: String, for name: String) throws {
        self.path = path
        descriptor = try Self.open(path, for: name)
        write()
    }

    deinit {
        // Removed while locked, and only if it is still this file: nobody else can hold it then.
        if descriptor >= 0, Self.lies(descriptor, at: path) { unlink(path) }
        if descriptor >= 0 { close(descriptor) }
    }

    /// The locked file; -1 on a file system without locks.
    private static func open(_ path: String, for name: String) throws -> Int32 {
        // A server that ends may remove the file between opening and locking it.
        for _ in 0..<100 {
            let descriptor: Int32
            do {
                descriptor = try Files.descriptor(of: path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode: 0o600)
            } catch {
                throw Misuse("\(StateFile.Failure(path: name, code: error.code)).")
            }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let code = errno
                defer { close(descriptor) }
                if code == EINTR { continue }
                guard code != EWOULDBLOCK else { throw Misuse(taken(name, by: owner(descriptor))) }
                Output.complaint(
                    "\(name) is on a file system without locks (\(String(cString: strerror(code)))): make sure that no other server exports to it."
                )
                return -1
            }
            if lies(descriptor, at: path) { return descriptor }
            close(descriptor)
        }
        throw Misuse(taken(name, by: nil))
    }

    private static func taken(_ name: String, by owner: Int?) -> String {
        let process = owner.map { "the process \($0)" } ?? "another process"
        return
            "--export-on-exit \(name): \(process) exports to this file already, and the one that ends last would overwrite the other's state. Name another file, or end that server."
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
        return Int(String(decoding: bytes[..<count], as: UTF8.self).withoutOuterBlanks)
    }

    /// Writes the process id for the message of a second server. Without it that message only says less.
    private func write() {
        guard descriptor >= 0 else { return }
        let text = Array("\(getpid())\n".utf8)
        ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.count, 0)
    }
}
