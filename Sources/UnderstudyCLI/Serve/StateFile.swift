import Emulation
import JSON
import Understudy

#if canImport(FoundationEssentials)
    import FoundationEssentials
    import Glibc
#else
    import Foundation
#endif

/// A file that always holds one complete document, even if writing the next one is interrupted.
struct StateFile {
    /// Why a file was not written; the previous one is unchanged.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let code: Int32

        var description: String {
            let reason =
                switch code {
                case EBUSY: "it is mounted by itself, so nothing can take its place; mount the folder"
                case EINVAL: "it is no regular file"
                case ELOOP: "it is a loop of links"
                default: String(cString: strerror(code))
                }
            return "the state cannot be written to \(path): \(reason)"
        }
    }

    let name: String
    /// The target of links: renaming onto a link would replace the link.
    private let path: String

    init(_ name: String) {
        self.name = name
        path = Self.end(of: name)
    }

    /// The target of a chain of links, which need not exist yet.
    private static func end(of name: String) -> String {
        var path = name
        // As many links as the system follows; a loop remains a link and is rejected as one.
        for _ in 0..<40 {
            let parts = path.split(separator: "/", omittingEmptySubsequences: true)
            guard let last = parts.last, last != "..", last != "." else { return path }
            let parent = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
            let named = parent.isEmpty ? path.hasPrefix("/") ? "/" : "." : parent
            // Unchanged if the folder does not exist; writing reports that.
            let folder = FileSystem.realPath(named) ?? named
            path = folder == "/" ? "/\(last)" : "\(folder)/\(last)"
            let target = FileSystem.target(of: path)
            if target.isEmpty { return path }
            // A relative target is resolved from the link's real folder.
            path = target.hasPrefix("/") ? target : "\(folder)/\(target)"
        }
        return path
    }

    var exists: Bool { FileSystem.holds(path) }

    func isSame(as other: StateFile) -> Bool { path == other.path }

    private var folder: String { URL(filePath: path).deletingLastPathComponent().path }

    /// A unique name beside the file, on the same file system.
    private var partialPath: String {
        let file = URL(filePath: path).lastPathComponent
        return "\(folder)/.\(file).\(String(UInt64.random(in: 0 ... .max), radix: 16)).partial"
    }

    func read() throws -> JSON {
        let bytes: [UInt8]
        do {
            bytes = try Files.content(of: path)
        } catch {
            throw Misuse("\(name) cannot be read; check that it is a file, and its permissions")
        }
        do {
            return try JSON.parse(bytes, maximumDepth: Emulator.documentDepth)
        } catch {
            throw Misuse(
                "\(FixtureProblem(file: name, line: error.line, column: error.column, message: "not JSON: \(error.reason)"))."
            )
        }
    }

    /// Checks in advance that the file can be saved.
    ///
    /// - Returns: the lock that keeps other servers from writing the file, to be held for as long as this one may
    ///   write.
    func checkFolder() throws -> StateLock {
        try checkKind()
        let file = URL(filePath: path).lastPathComponent
        let lock = try lock("\(folder)/.\(file).lock")
        // Only after locking: another server may be writing them.
        try tryPartial()
        return lock
    }

    private func lock(_ path: String) throws -> StateLock {
        do {
            let lock = try StateLock(path)
            if let lack = lock.lack {
                Output.complaint(
                    "\(name) is on a file system without locks (\(lack)): make sure that no other server exports to it."
                )
            }
            return lock
        } catch .taken(let owner) {
            let process = owner.map { "the process \($0)" } ?? "another process"
            throw Misuse(
                "--export-on-exit \(name): \(process) exports to this file already, and the one that ends last would overwrite the other's state. Name another file, or end that server."
            )
        } catch .system(let failure) {
            throw Misuse("\(Failure(path: name, code: failure.code)).")
        }
    }

    private func checkKind() throws(Failure) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        switch status.st_mode & S_IFMT {
        case S_IFREG: if isMountPoint { throw Failure(path: name, code: EBUSY) }
        case S_IFDIR: throw Failure(path: name, code: EISDIR)
        case S_IFLNK: throw Failure(path: name, code: ELOOP)
        default: throw Failure(path: name, code: EINVAL)
        }
    }

    private func tryPartial() throws(Failure) {
        removePartials()
        let partial = partialPath
        try rephrase { () throws(Files.Failure) in
            close(try Files.descriptor(of: partial, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600))
        }
        unlink(partial)
    }

    /// Whether this very file is a container's mount: nothing can replace it, so its folder must be mounted instead.
    private var isMountPoint: Bool {
        // Systems without this file have no such mounts.
        guard let mounts = try? Files.content(of: "/proc/self/mountinfo") else { return false }
        let escaped = path.replacing(" ", with: #"\040"#)
        return String(decoding: mounts, as: UTF8.self).split(separator: "\n").contains { line in
            let words = line.split(separator: " ")
            return words.count > 4 && words[4] == escaped
        }
    }

    /// Removes temporary files of servers killed while writing; they contain private keys.
    private func removePartials() {
        let beginning = "." + URL(filePath: path).lastPathComponent + "."
        // If the folder is missing, the next step reports it.
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        where name.hasPrefix(beginning) && name.hasSuffix(".partial") {
            unlink(folder + "/" + name)
        }
    }

    /// Replaces the content: writes a temporary file, syncs it to disk, and renames it into place.
    ///
    /// Only the owner may read it, since it contains passwords and private keys.
    func write(_ state: JSON) throws(Failure) {
        try rephrase { () throws(Files.Failure) in
            try Files.put(
                Array(state.prettyText.utf8) + [UInt8(ascii: "\n")], at: path, through: partialPath, mode: 0o600)
        }
        Files.sync(folder)
    }

    private func rephrase(_ call: () throws(Files.Failure) -> Void) throws(Failure) {
        do { try call() } catch { throw Failure(path: name, code: error.code) }
    }
}
