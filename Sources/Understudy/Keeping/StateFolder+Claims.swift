import Emulation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Claims: which replica a sandbox belongs to.
///
/// A claim is a symbolic link beside the sandbox's file, `NAME.7.owner`, that leads to the session of its owner: one
/// system call makes it, and fails where it is already. Its number is that of the owner's file, `NAME.7.json`, and
/// grows with each owner.
///
/// Two servers never hold a sandbox at once: each first makes its claim and then looks for others, so of two that
/// claim at the same time at least one sees the other and withdraws. And whoever takes a sandbox over removes what its
/// last owner was still writing, so an owner that was merely slow cannot put an old state in place of the new one.
extension StateFolder {
    /// A claim to a sandbox.
    struct Claim: Sendable, Hashable {
        let sandbox: String
        /// Counts the owners of the sandbox.
        let fence: Int
        /// The owner's session.
        let owner: String

        /// Its name in the folder.
        var name: String { "\(sandbox).\(fence).owner" }
        /// The file that its owner writes.
        var file: File { File(sandbox: sandbox, fence: fence) }
    }

    /// The outcome of an attempt to take a sandbox.
    enum Taking {
        /// It is taken: the claim, whether there is a file by now of the same number, and the claim that was in force before.
        case taken(Claim, hasFile: Bool, from: Claim?)
        /// Somebody has it.
        case held(Claim)
    }

    /// What lies in the folder of a sandbox's name.
    private struct Found {
        var claims: Set<Claim> = []
        /// The one with the highest number first.
        var files: [File] = []
        var partials: [String] = []

        var highestFence: Int { max(claims.map(\.fence).max() ?? 0, files.first?.fence ?? 0) }
    }

    /// Attempts of one caller before it counts the sandbox as held by another one that claims it at the same time.
    private static let attempts = 20

    /// Takes a sandbox for a session, unless it belongs to another one that is not gone.
    func take(
        _ sandbox: String, for session: String, isGone: (String) -> Bool
    ) throws(Files.Failure) -> Taking {
        var rival: Claim?
        for _ in 0..<Self.attempts {
            let seen = try found(of: sandbox)
            if let mine = seen.claims.first(where: { $0.owner == session }) {
                return .taken(mine, hasFile: try settle(mine, seen), from: mine)
            }
            if let other = seen.claims.first(where: { !isGone($0.owner) }) { return .held(other) }
            let claim = Claim(sandbox: sandbox, fence: seen.highestFence + 1, owner: session)
            guard try make(claim) else { continue }
            let now = try found(of: sandbox)
            rival = now.claims.first { $0 != claim && !seen.claims.contains($0) }
            guard rival == nil else {
                release(claim)
                usleep(.random(in: 500...10_000))
                continue
            }
            let last = seen.claims.max { $0.fence < $1.fence }
            return .taken(claim, hasFile: try settle(claim, now), from: last)
        }
        guard let rival else { throw Files.Failure(code: EAGAIN) }
        return .held(rival)
    }

    /// The claims to a sandbox: one, but for moments in which it changes hands.
    func claims(to sandbox: String) throws(Files.Failure) -> Set<Claim> { try found(of: sandbox).claims }

    /// Whether the claim is in force. Without it, its owner must write nothing.
    func isInForce(_ claim: Claim) -> Bool { FileSystem.target(of: path(of: claim)) == claim.owner }

    /// Gives a sandbox up.
    func release(_ claim: Claim) { unlink(path(of: claim)) }

    private func path(of claim: Claim) -> String { "\(bucket(of: claim.sandbox))/\(claim.name)" }

    /// Makes a claim; false if there is one with its number.
    private func make(_ claim: Claim) throws(Files.Failure) -> Bool {
        let path = path(of: claim)
        if symlink(claim.owner, path) == 0 { return true }
        if errno == ENOENT {
            try Files.makeFolder(bucket(of: claim.sandbox), mode: 0o700)
            if symlink(claim.owner, path) == 0 { return true }
        }
        guard errno == EEXIST else { throw .last }
        return false
    }

    /// Ends whatever earlier owners had: their claims, what they were writing, and the numbers of their files.
    ///
    /// - Returns: whether there is a file of the claim's number now.
    private func settle(_ claim: Claim, _ found: Found) throws(Files.Failure) -> Bool {
        let bucket = bucket(of: claim.sandbox)
        // Claims go first: whoever begins to write from now on sees that it must not.
        for other in found.claims where other != claim { release(other) }
        for partial in found.partials { unlink("\(bucket)/\(partial)") }
        guard let newest = found.files.first else { return false }
        for stale in found.files.dropFirst() { unlink("\(bucket)/\(stale.name)") }
        if newest == claim.file { return true }
        if rename("\(bucket)/\(newest.name)", "\(bucket)/\(claim.file.name)") == 0 { return true }
        guard errno == ENOENT else { throw .last }
        return false
    }

    private func found(of sandbox: String) throws(Files.Failure) -> Found {
        let bucket = bucket(of: sandbox)
        let (begin, hidden) = ("\(sandbox).", ".\(sandbox).")
        var found = Found()
        for name in try Files.names(in: bucket) {
            if name.hasPrefix(hidden) { found.partials.append(name) }
            guard name.hasPrefix(begin) else { continue }
            if let file = File(name), file.sandbox == sandbox { found.files.append(file) }
            guard let file = File(name, as: "owner"), file.sandbox == sandbox else { continue }
            let owner = FileSystem.target(of: "\(bucket)/\(name)")
            // It may have been released since the folder was read.
            if !owner.isEmpty { found.claims.insert(Claim(sandbox: sandbox, fence: file.fence, owner: owner)) }
        }
        found.files.sort { $0.fence > $1.fence }
        return found
    }
}
