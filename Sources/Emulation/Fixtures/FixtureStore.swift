import Synchronization

/// The fixture files: a complete bottom layer, overlaid file by file.
public struct FixtureStore: Sendable {
    /// A file with the path that people know it by.
    package struct File: Sendable {
        /// The path that error messages show.
        package let path: String
        /// The content.
        package let bytes: [UInt8]
    }

    /// Folders, the topmost first.
    package let layers: [String]
    private let reads = Reads()

    /// Tracks which files were read, to tell which files of a layer count, and the layers' real paths.
    private final class Reads: Sendable {
        let paths = Mutex<Set<String>>([])
        private let roots = Mutex<[String: String]>([:])

        /// The real path of a layer, looked up once.
        func root(of layer: String) -> String? {
            roots.withLock { roots in
                if let root = roots[layer] { return root }
                roots[layer] = FileSystem.realPath(layer)
                return roots[layer]
            }
        }
    }

    /// Creates a store over these folders; a file in an earlier one hides the same file in a later one.
    package init(layers: [String]) {
        self.layers = layers
    }

    /// The first of the folders that holds all these files.
    package static func folder(among candidates: [String], holding files: [String]) -> String? {
        candidates.first { folder in files.allSatisfy { FileSystem.holds(join(folder, $0)) } }
    }

    /// The first layer whose folder does not exist.
    package var missingLayer: String? {
        layers.first { !FileSystem.holds($0) }
    }

    /// Reads the file at that path, such as `VENDOR/accounts.yaml`.
    ///
    /// - Throws: a problem when no layer has the file or it cannot be read.
    package func file(_ path: String) throws(FixtureProblem) -> File {
        switch look(path) {
        case .content(let full, let file):
            reads.paths.withLock { _ = $0.insert(full) }
            return file
        case .absent:
            throw FixtureProblem(file: path, message: "no such file; looked in \(layers.joined(separator: ", "))")
        case .unreadable(let problem), .refused(let problem): throw problem
        }
    }

    /// What a path leads to, in the first layer that has something there.
    enum Look {
        case content(full: String, File)
        case absent
        case unreadable(FixtureProblem)
        case refused(FixtureProblem)
    }

    func look(_ path: String) -> Look {
        for layer in layers {
            let full = Self.join(layer, path)
            switch FileSystem.read(full, in: { reads.root(of: layer) }) {
            case .content(let bytes): return .content(full: full, File(path: Self.shown(full), bytes: bytes))
            case .absent: continue
            case .unreadable:
                return .unreadable(
                    FixtureProblem(file: Self.shown(full), message: "cannot be read; check its permissions"))
            case .refused(let words): return .refused(FixtureProblem(file: Self.shown(full), message: words))
            }
        }
        return .absent
    }

    /// Whether the file at that full path was requested.
    func wasRead(_ full: String) -> Bool { reads.paths.withLock { $0.contains(full) } }

    /// Reads the YAML document at that path.
    package func document(_ path: String) throws(FixtureProblem) -> FixtureNode {
        try FixtureNode(file: try file(path))
    }

    /// The names of the files in that folder across all layers, sorted; empty when no layer has the folder.
    package func names(in folder: String) -> [String] {
        var names: Set<String> = []
        // A layer need not have every folder.
        for layer in layers {
            // The limit is reported when all files are counted.
            names.formUnion(FileSystem.names(in: Self.join(layer, folder), atMost: FixtureWalk.mostEntries))
        }
        return names.sorted()
    }

    static func join(_ folder: String, _ path: String) -> String {
        if folder == "." { return path }
        return folder.hasSuffix("/") ? folder + path : folder + "/" + path
    }

    /// Paths below the working directory are shown relative to it.
    static func shown(_ path: String) -> String {
        let here = FileSystem.currentFolder + "/"
        return path.hasPrefix(here) ? String(path.dropFirst(here.count)) : path
    }
}

/// The fixture files of one vendor.
public struct VendorFixtures: Sendable {
    private let store: FixtureStore
    private let folder: String
    private let makings = Makings()

    /// Values made from the files, by type.
    private final class Makings: Sendable {
        let values = Mutex<[ObjectIdentifier: any Sendable]>([:])
    }

    /// Creates the fixtures below that folder of a store.
    public init(store: FixtureStore, folder: String) {
        self.store = store
        self.folder = folder
    }

    /// Reads a file from the vendor's folder.
    package func file(_ path: String) throws(FixtureProblem) -> FixtureStore.File {
        try store.file("\(folder)/\(path)")
    }

    /// Reads the file that a fixture names, from the vendor's folder; a problem is reported where it is named.
    package func file(named node: FixtureNode) throws(FixtureProblem) -> FixtureStore.File {
        let path = try node.string()
        do {
            return try file(path)
        } catch {
            throw node.problem("\(error)")
        }
    }

    /// Reads a YAML document from the vendor's folder.
    package func document(_ path: String) throws(FixtureProblem) -> FixtureNode {
        try store.document("\(folder)/\(path)")
    }

    /// A value made from these files once, shared by all callers.
    func once<Value: Sendable>(_ make: () throws(FixtureProblem) -> Value) throws(FixtureProblem) -> Value {
        let type = ObjectIdentifier(Value.self)
        if let value = makings.values.withLock({ $0[type] as? Value }) { return value }
        let value = try make()
        makings.values.withLock { $0[type] = value }
        return value
    }

    /// The names of the files in a subfolder, sorted.
    package func names(in subfolder: String) -> [String] { store.names(in: "\(folder)/\(subfolder)") }
}
