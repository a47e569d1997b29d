import Synchronization

/// The fixture files: a bottom layer that is complete and, file by file, layers over it.
public struct FixtureStore: Sendable {
    /// One file with the name by which people know it.
    public struct File: Sendable {
        /// The path that error messages show.
        public let path: String
        /// The content.
        public let bytes: [UInt8]
    }

    /// Folders, the topmost first.
    public let layers: [String]
    private let reads = Reads()

    /// What was read, so that somebody can tell which files of a layer count.
    private final class Reads: Sendable {
        let paths = Mutex<Set<String>>([])
    }

    /// A store over these folders; a file of an earlier one hides the same file of a later one.
    public init(layers: [String]) {
        self.layers = layers
    }

    /// The first of the folders that holds all these files.
    public static func folder(among candidates: [String], holding files: [String]) -> String? {
        candidates.first { folder in files.allSatisfy { FileSystem.holds(join(folder, $0)) } }
    }

    /// The first layer whose folder is not there.
    public var missingLayer: String? {
        layers.first { !FileSystem.holds($0) }
    }

    /// Reads the file at that path, such as `VENDOR/accounts.yaml`.
    ///
    /// - Throws: a problem when no layer has the file or it cannot be read.
    public func file(_ path: String) throws(FixtureProblem) -> File {
        let (full, file) = try contents(path)
        reads.paths.withLock { _ = $0.insert(full) }
        return file
    }

    private func contents(_ path: String) throws(FixtureProblem) -> (full: String, File) {
        for layer in layers {
            let full = Self.join(layer, path)
            switch FileSystem.read(full) {
            case .content(let bytes): return (full, File(path: shown(full), bytes: bytes))
            case .absent: continue
            case .unreadable:
                throw FixtureProblem(
                    file: shown(full), message: "cannot be read; is it a file, and may it be read?")
            }
        }
        throw FixtureProblem(
            file: path, message: "no such file; looked in \(layers.joined(separator: ", "))")
    }

    /// Reads the YAML document at that path.
    public func document(_ path: String) throws(FixtureProblem) -> FixtureNode {
        try FixtureNode(file: try file(path))
    }

    /// The names of the files in that folder over all layers, sorted; empty without such a folder.
    public func names(in folder: String) -> [String] {
        var names: Set<String> = []
        // A layer need not have every folder.
        for layer in layers { names.formUnion(FileSystem.names(in: Self.join(layer, folder))) }
        return names.filter { !$0.hasPrefix(".") }.sorted()
    }

    static func join(_ folder: String, _ path: String) -> String {
        if folder == "." { return path }
        return folder.hasSuffix("/") ? folder + path : folder + "/" + path
    }

    /// Paths below the working directory are shown relative to it.
    private func shown(_ path: String) -> String {
        let here = FileSystem.currentFolder + "/"
        return path.hasPrefix(here) ? String(path.dropFirst(here.count)) : path
    }
}

/// The fixture files of one vendor.
public struct VendorFixtures: Sendable {
    private let store: FixtureStore
    private let folder: String
    private let makings = Makings()

    /// What was made of the files, by its type.
    private final class Makings: Sendable {
        let values = Mutex<[ObjectIdentifier: any Sendable]>([:])
    }

    /// The files below that folder of a store.
    public init(store: FixtureStore, folder: String) {
        self.store = store
        self.folder = folder
    }

    /// Reads a file of the vendor's folder.
    public func file(_ path: String) throws(FixtureProblem) -> FixtureStore.File { try store.file("\(folder)/\(path)") }

    /// Reads the file of the vendor's folder that a fixture names; a problem with it stands where it is named.
    public func file(named node: FixtureNode) throws(FixtureProblem) -> FixtureStore.File {
        let path = try node.string()
        do {
            return try file(path)
        } catch {
            throw node.problem("\(error)")
        }
    }

    /// Reads a YAML document of the vendor's folder.
    public func document(_ path: String) throws(FixtureProblem) -> FixtureNode {
        try store.document("\(folder)/\(path)")
    }

    /// A value that is made of these files once, whoever asks for it.
    func once<Value: Sendable>(_ make: () throws(FixtureProblem) -> Value) throws(FixtureProblem) -> Value {
        let type = ObjectIdentifier(Value.self)
        if let value = makings.values.withLock({ $0[type] as? Value }) { return value }
        let value = try make()
        makings.values.withLock { $0[type] = value }
        return value
    }

    /// The names of the files in a subfolder, sorted.
    public func names(in subfolder: String) -> [String] { store.names(in: "\(folder)/\(subfolder)") }
}

extension FixtureStore {
    /// A short text that changes when any file of these folders does, as the layers show them.
    public func fingerprint(of folders: [String]) -> String {
        // After FNV-1a, eight bytes at a time: it tells versions apart and protects nothing.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func mix(_ word: UInt64) {
            hash = (hash ^ word) &* 0x100_0000_01B3
            hash ^= hash >> 32
        }
        func mix(_ bytes: [UInt8]) {
            bytes.withUnsafeBytes { bytes in
                let end = bytes.count & ~7
                for offset in stride(from: 0, to: end, by: 8) {
                    mix(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
                }
                mix(bytes[end...].reduce(UInt64(bytes.count)) { $0 << 8 | UInt64($1) })
            }
        }
        for path in folders.flatMap(paths(below:)) {
            // A file that went away meanwhile counts by its name alone.
            let bytes = (try? contents(path))?.1.bytes ?? []
            mix(Array(path.utf8))
            mix(bytes)
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The files below a layer that were read, and those that nobody asked for, by their paths in it.
    public func usage(of layer: String) -> (read: [String], unread: [String]) {
        let read = reads.paths.withLock { $0 }
        let all = FixtureStore(layers: [layer]).paths(below: ".")
            .map { $0.hasPrefix("./") ? String($0.dropFirst(2)) : $0 }
        let isRead = { (path: String) in read.contains(Self.join(layer, path)) }
        return (all.filter(isRead), all.filter { !isRead($0) })
    }

    func paths(below folder: String) -> [String] {
        names(in: folder).flatMap { name -> [String] in
            let path = "\(folder)/\(name)"
            let children = paths(below: path)
            return children.isEmpty ? [path] : children
        }
    }
}
