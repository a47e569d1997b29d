import Emulation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The part of a state folder in which replicas find each other: `replicas/`.
///
/// `NAME.lock` keeps a name to one process, `NAME.1a2b3c4d` is the lease of a session, and the empty files in
/// `NAME.1a2b3c4d.wanted` are named after sandboxes that others ask it for.
struct ReplicaFolder: Sendable {
    /// The folder's path.
    let path: String

    /// The part of a state folder.
    init(of folder: StateFolder) { path = folder.path + "/replicas" }

    /// The path of the lock of a name.
    func lock(of name: String) -> String { "\(path)/\(name).lock" }

    private func lease(_ session: String) -> String { "\(path)/\(session)" }
    private func wanted(_ session: String) -> String { "\(path)/\(session).wanted" }

    // MARK: - Leases

    /// Makes the file of a session, locked before anybody sees it.
    func makeLease(
        _ session: String, _ text: Lease.Text
    ) throws(Files.Failure) -> (descriptor: Int32, isLocked: Bool) {
        try Files.makeFolder(wanted(session), mode: 0o700)
        let new = "\(path)/.\(session)"
        let descriptor = try Files.descriptor(of: new, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        do throws(Files.Failure) {
            let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
            let text = Lease.Text(boot: text.boot, isLocked: isLocked, process: text.process, beats: 0)
            try Files.put(text.bytes, into: descriptor)
            guard rename(new, lease(session)) == 0 else { throw .last }
            return (descriptor, isLocked)
        } catch {
            unlink(new)
            close(descriptor)
            throw error
        }
    }

    /// Writes a beat; false if others cannot see it.
    ///
    /// The file is opened for each beat, since network file systems pass a change on when it is closed.
    func beat(_ session: String, _ text: Lease.Text) -> Bool {
        let descriptor = open(lease(session), O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        let bytes = text.bytes
        let isWritten = pwrite(descriptor, bytes, bytes.count, 0) == bytes.count
        return close(descriptor) == 0 && isWritten
    }

    /// What a session's lease says, and whether the process that locked it has ended; `nil` if there is no such lease.
    ///
    /// - Throws: why that cannot be found out now.
    func read(_ session: String) throws(Files.Failure) -> (text: Lease.Text?, isAbandoned: Bool)? {
        let descriptor: Int32
        do {
            descriptor = try Files.descriptor(of: lease(session), O_RDONLY | O_NOFOLLOW)
        } catch {
            if error.code == ENOENT { return nil }
            throw error
        }
        defer { close(descriptor) }
        let text = Lease.Text(try Files.content(ofDescriptor: descriptor))
        // Locks of other machines cannot be relied on, but those of this one can.
        guard let text, text.isLocked, text.boot == MachineStart.id else { return (text, false) }
        return (text, flock(descriptor, LOCK_SH | LOCK_NB) == 0)
    }

    /// Removes what a session has in the folder, with which it is gone for everybody.
    func remove(_ session: String) {
        guard !session.isEmpty else { return }
        unlink(lease(session))
        for sandbox in FileSystem.names(in: wanted(session)) { fulfil(sandbox, of: session) }
        rmdir(wanted(session))
    }

    // MARK: - Requests for sandboxes

    /// Asks a session for a sandbox. If the session is gone, there is nobody to ask.
    func want(_ sandbox: String, of session: String) {
        let descriptor = open("\(wanted(session))/\(sandbox)", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor >= 0 { close(descriptor) }
    }

    /// The sandboxes that others ask a session for.
    func wanted(of session: String) -> [String] { FileSystem.names(in: wanted(session)) }

    /// Notes that a session has let go of a sandbox, or does not have it.
    func fulfil(_ sandbox: String, of session: String) { unlink("\(wanted(session))/\(sandbox)") }
}
