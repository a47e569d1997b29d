#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The file system operations of fixtures and commands, as direct system calls: a start makes hundreds of them.
package enum FileSystem {
    enum Reading {
        case content([UInt8])
        case absent
        case unreadable
        /// Something that is not read at all; the reason follows its name.
        case refused(String)
    }

    /// What a path refers to.
    enum Kind {
        case file
        case folder
        /// Neither file nor folder; the reason follows its name.
        case other(String)
    }

    /// The longest file that is read, in bytes: enough for a large picture, far too little to fill the memory.
    static let longestFile = 16 << 20

    /// Whether something exists at the path.
    package static func holds(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// The working directory.
    static var currentFolder: String {
        guard let path = getcwd(nil, 0) else { return "." }
        defer { free(path) }
        return String(cString: path)
    }

    /// The path with all links resolved; `nil` when it leads nowhere.
    package static func realPath(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// Whether a real path is the given folder (also a real path) or lies below it.
    static func lies(_ path: String, in folder: String) -> Bool {
        path == folder || path.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
    }

    /// The names in a folder, unordered; empty if it is not a folder.
    package static func names(in folder: String, atMost count: Int = .max) -> [String] {
        listing(of: folder, atMost: count).entries.map(\.name)
    }

    package struct Entry {
        package let name: String
        /// Whether the listing says that it is a file; what it says of others depends on the file system.
        let isFile: Bool
    }

    /// The entries of a folder, up to `count`, and the error that kept them from being complete, or 0.
    ///
    /// - Parameter hidden: whether those that begin with a dot count, too; the folder itself and its parent never do.
    package static func listing(
        of folder: String, atMost count: Int = .max, hidden: Bool = false
    ) -> (entries: [Entry], error: Int32) {
        guard let directory = opendir(folder) else { return ([], errno) }
        defer { closedir(directory) }
        var entries: [Entry] = []
        while entries.count < count {
            // The end and an error look the same but for this.
            errno = 0
            guard let entry = readdir(directory) else { return (entries, errno) }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { name in
                String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
            }
            if hidden ? name != "." && name != ".." : !name.hasPrefix(".") {
                entries.append(Entry(name: name, isFile: Int(entry.pointee.d_type) == Int(DT_REG)))
            }
        }
        return (entries, 0)
    }

    /// Whether the path is a folder, links followed.
    package static func isFolder(_ path: String) -> Bool {
        if case .folder? = kind(of: path)?.kind { true } else { false }
    }

    /// What a path refers to, links followed, and whether it is itself a link; `nil` when it does not exist.
    static func kind(of path: String) -> (kind: Kind, isLink: Bool)? {
        var facts = stat()
        guard lstat(path, &facts) == 0 else { return nil }
        let isLink = facts.st_mode & S_IFMT == S_IFLNK
        if isLink, stat(path, &facts) != 0 { return (.other(brokenLink(path, errno)), true) }
        return (kind(facts.st_mode), isLink)
    }

    private static func kind(_ mode: mode_t) -> Kind {
        switch mode & S_IFMT {
        case S_IFREG: .file
        case S_IFDIR: .folder
        case S_IFIFO: .other("is a named pipe; expected a file")
        case S_IFSOCK: .other("is a socket; expected a file")
        default: .other("is a device; expected a file")
        }
    }

    private static func brokenLink(_ path: String, _ code: Int32) -> String {
        switch code {
        case ELOOP: "is a loop of links; expected a file"
        case ENOENT, ENOTDIR: "is a link to \(target(of: path)), where there is nothing"
        default: "is a link to \(target(of: path)), which cannot be read"
        }
    }

    /// Where a link leads; empty for anything but a link.
    package static func target(of link: String) -> String {
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            count = buffer.withMemoryRebound(to: CChar.self) { bytes in
                bytes.baseAddress.map { max(0, readlink(link, $0, bytes.count)) } ?? 0
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads a file that a listing called one; `nil` when it is another thing by now, or cannot be opened.
    static func readPlain(_ path: String) -> Reading? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        return content(of: descriptor, size: Int(facts.st_size))
    }

    /// Reads a file inside a folder, given by its real path; links may not lead out of the folder.
    ///
    /// Never opens anything that could block the caller, or that reading would change.
    static func read(_ path: String, in root: String) -> Reading {
        // The system would end the path at the NUL.
        guard !path.utf8.contains(0) else { return .absent }
        guard let (kind, _) = kind(of: path) else {
            return errno == ENOENT || errno == ENOTDIR ? .absent : errno == ELOOP ? loop : .unreadable
        }
        switch kind {
        case .file: break
        case .folder: return .refused("is a folder; expected a file")
        case .other(let words): return .refused(words)
        }
        // The name may refer to something else by now.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return errno == ENOENT || errno == ENOTDIR ? .absent : .unreadable }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return .unreadable }
        if case .other(let words) = Self.kind(facts.st_mode) { return .refused(words) }
        if let real = realPath(of: descriptor) ?? realPath(path), !lies(real, in: root) {
            return .refused("leads to \(real), outside the folder of fixtures \(root); copy it there")
        }
        return content(of: descriptor, size: Int(facts.st_size))
    }

    private static var loop: Reading { .refused("is a loop of links; expected a file") }

    /// The path of an open file; `nil` when the system does not provide it.
    private static func realPath(of descriptor: Int32) -> String? {
        #if canImport(Darwin)
            var path = [CChar](repeating: 0, count: Int(PATH_MAX))
            guard fcntl(descriptor, F_GETPATH, &path) == 0 else { return nil }
            return String(decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        #else
            let path = target(of: "/proc/self/fd/\(descriptor)")
            return path.hasPrefix("/") ? path : nil
        #endif
    }

    private static func content(of descriptor: Int32, size: Int) -> Reading {
        guard size <= longestFile else { return tooLong("\(size)") }
        var content: [UInt8] = []
        // A file may grow in the meantime, and some report no size; one that is read in whole has no more.
        repeat {
            guard let piece = piece(of: descriptor, atMost: max(size + 1 - content.count, 4096)) else {
                return .unreadable
            }
            content += piece
            if piece.isEmpty || size > 0 && content.count == size { return .content(content) }
            guard content.count <= longestFile else { return tooLong("more than \(longestFile)") }
        } while true
    }

    private static func tooLong(_ size: String) -> Reading {
        .refused("has \(size) bytes; a fixture file may have \(longestFile)")
    }

    /// The next bytes of a file, empty at its end; `nil` when it cannot be read.
    package static func piece(of descriptor: Int32, atMost count: Int) -> [UInt8]? {
        var failed = false
        let piece = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            var result = 0
            repeat {
                #if canImport(Darwin)
                    result = Darwin.read(descriptor, buffer.baseAddress, count)
                #else
                    result = Glibc.read(descriptor, buffer.baseAddress, count)
                #endif
            } while result < 0 && errno == EINTR
            failed = result < 0
            filled = max(result, 0)
        }
        return failed ? nil : piece
    }
}
