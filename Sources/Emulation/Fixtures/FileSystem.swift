import JSON

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

    enum Kind {
        case file
        case folder
        /// Neither file nor folder; the reason follows its name.
        case other(String)
    }

    /// The longest file that is read, in bytes: enough for a large picture, far too little to fill the memory.
    static let longestFile = 16 << 20

    package static func holds(_ path: String) -> Bool { access(path, F_OK) == 0 }

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
    package static func names(in folder: String) -> [String] { listing(of: folder).entries.map(\.name) }

    package struct Entry {
        package let name: String
        /// Whether the listing says that it is a file; what it says of other kinds depends on the file system.
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

    /// The target of a link; empty for anything else.
    package static func target(of link: String) -> String {
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            count = buffer.withMemoryRebound(to: CChar.self) { bytes in
                bytes.baseAddress.map { max(0, readlink(link, $0, bytes.count)) } ?? 0
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads a file that a listing called one; `nil` when it is something else by now, or cannot be opened.
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
            if errno == ELOOP { return .refused("is a loop of links; expected a file") }
            return errno == ENOENT || errno == ENOTDIR ? .absent : .unreadable
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
            return .refused(leaving(root, to: real))
        }
        return content(of: descriptor, size: Int(facts.st_size))
    }

    static func leaving(_ root: String, to real: String) -> String {
        "leads to \(real), outside the folder of fixtures \(root); copy it there"
    }

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
        func tooLong(_ size: String) -> Reading {
            .refused("has \(size) bytes; a fixture file may have \(longestFile)")
        }
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

/// The files below a layer, and the first problem that stops the walk.
///
/// Links are followed while they stay in the layer: a mounted folder may consist of them.
struct FixtureWalk {
    /// How many files and folders a layer may hold; the installed fixtures are a few hundred.
    static let mostEntries = 4096
    static let mostFolders = 32

    /// The first entry that is neither file nor folder, leaves the layer, or exceeds a limit.
    private(set) var problem: FixtureProblem?
    let layer: String

    private let root: String
    private var entries = 0
    /// The files by their paths in the layer, without hidden files, and whether no link leads there.
    private var files: [String: Bool] = [:]
    /// The names in each folder, by its path in the layer.
    private var folders: [String: [String]] = [:]

    var paths: [String] { Array(files.keys) }

    init(_ layer: String) {
        self.layer = layer
        root = FileSystem.realPath(layer) ?? layer
        visit("", through: [root])
    }

    func names(in folder: String) -> [String] {
        folders[folder.split(separator: "/").filter { $0 != "." }.joined(separator: "/")] ?? []
    }

    func read(_ path: String) -> FileSystem.Reading {
        let full = FixtureStore.join(layer, path)
        switch files[path] {
        case true?: return FileSystem.readPlain(full) ?? FileSystem.read(full, in: root)
        case false?: return FileSystem.read(full, in: root)
        case nil: return problem == nil && hasOnlyNames(path) ? .absent : FileSystem.read(full, in: root)
        }
    }

    /// Whether a path that is no file's does not exist: it is no folder either, and has only names that a walk visits.
    private func hasOnlyNames(_ path: String) -> Bool {
        folders[path] == nil
            && path.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
                !$0.isEmpty && !$0.hasPrefix(".")
            }
    }

    private func full(_ path: String) -> String { path.isEmpty ? layer : FixtureStore.join(layer, path) }

    private mutating func refuse(_ path: String, _ message: String) {
        if problem == nil { problem = FixtureProblem(file: FixtureStore.shown(full(path)), message: message) }
    }

    /// - Parameters:
    ///   - chain: the real paths of the folder and its ancestors in the walk.
    ///   - isPlain: whether no link leads to the folder.
    private mutating func visit(_ folder: String, through chain: [String], isPlain: Bool = true) {
        guard chain.count <= Self.mostFolders else {
            return refuse(folder, "is more than \(Self.mostFolders) folders deep")
        }
        let found = FileSystem.listing(of: full(folder), atMost: Self.mostEntries + 1).entries
        entries += found.count
        guard entries <= Self.mostEntries else {
            return refuse(
                folder,
                "the fixtures hold more than \(Self.mostEntries) files and folders up to here; expected a few dozen. Is it the right folder?"
            )
        }
        folders[folder] = found.map(\.name)
        for entry in found.sorted(by: { $0.name < $1.name }) where problem == nil {
            let path = folder.isEmpty ? entry.name : "\(folder)/\(entry.name)"
            if isPlain, entry.isFile { files[path] = true } else { enter(path, entry.name, through: chain, isPlain) }
        }
    }

    private mutating func enter(_ path: String, _ name: String, through chain: [String], _ isPlain: Bool) {
        // It may have disappeared in the meantime.
        guard let (kind, isLink) = FileSystem.kind(of: full(path)), let parent = chain.last else { return }
        switch kind {
        case .file where !isLink: files[path] = isPlain
        case .other(let words): refuse(path, words)
        case .folder where !isLink: visit(path, through: chain + ["\(parent)/\(name)"], isPlain: isPlain)
        case .file, .folder:
            guard let real = FileSystem.realPath(full(path)) else { return }
            guard FileSystem.lies(real, in: root) else { return refuse(path, FileSystem.leaving(root, to: real)) }
            if case .file = kind { return files[path] = false }
            guard !chain.contains(where: { FileSystem.lies($0, in: real) }) else {
                return refuse(path, "is a link to \(real), which contains the link itself: a loop")
            }
            visit(path, through: chain + [real], isPlain: false)
        }
    }
}

/// Distinguishes versions of files; it protects nothing. Based on FNV-1a, eight bytes at a time.
package struct FixtureDigest: Sendable, Hashable {
    private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325

    init() {}

    init(of bytes: [UInt8]) { mix(bytes) }

    private mutating func mix(_ word: UInt64) {
        hash = (hash ^ word) &* 0x100_0000_01B3
        hash ^= hash >> 32
    }

    mutating func mix(_ digest: FixtureDigest) { mix(digest.hash) }

    mutating func mix(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            let end = bytes.count & ~7
            for offset in stride(from: 0, to: end, by: 8) {
                mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            }
            mix(bytes[end...].reduce(UInt64(bytes.count)) { $0 << 8 | UInt64($1) })
        }
    }

    package var text: String { hash.hexadecimal }
}

/// Distinguishes versions of a set of files without reading them.
package struct FixtureStamps: Sendable, Hashable {
    /// File attributes that reveal a change, whether the file is overwritten or replaced.
    private struct Stamp: Hashable {
        let size: Int64
        let inode: UInt64
        let modified: [Int]

        init?(_ path: String) {
            var facts = stat()
            // Links are followed: a mounted folder may consist of them.
            guard stat(path, &facts) == 0 else { return nil }
            size = Int64(facts.st_size)
            inode = UInt64(facts.st_ino)
            #if canImport(Darwin)
                let (content, entry) = (facts.st_mtimespec, facts.st_ctimespec)
            #else
                let (content, entry) = (facts.st_mtim, facts.st_ctim)
            #endif
            modified = [content.tv_sec, content.tv_nsec, entry.tv_sec, entry.tv_nsec]
        }
    }

    private var stamps: [String: Stamp] = [:]
    private var problems: [FixtureProblem] = []

    package init() {}

    package init(of store: FixtureStore) {
        for walk in store.walks {
            for path in walk.paths.map({ FixtureStore.join(walk.layer, $0) }) { stamps[path] = Stamp(path) }
        }
        problems = store.walks.compactMap(\.problem)
    }
}
