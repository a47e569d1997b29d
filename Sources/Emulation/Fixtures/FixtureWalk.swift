/// The files below a layer, and the first problem that stops the walk.
///
/// Links are followed while they stay in the layer: a mounted folder may consist of them.
struct FixtureWalk {
    /// How many files and folders a layer may hold; the installed fixtures are a few hundred.
    static let mostEntries = 4096
    /// How deeply folders may be nested.
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

    /// The files' paths in the layer, unordered.
    var paths: [String] { Array(files.keys) }

    init(_ layer: String) {
        self.layer = layer
        root = FileSystem.realPath(layer) ?? layer
        visit("", through: [root])
    }

    /// The names of files and folders in a folder of the layer.
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

    /// Whether a path that is no file's leads nowhere: not to a folder, and by names that a walk visits.
    private func hasOnlyNames(_ path: String) -> Bool {
        folders[path] == nil
            && path.split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
                !$0.isEmpty && !$0.hasPrefix(".")
            }
    }

    private func full(_ path: String) -> String { path.isEmpty ? layer : FixtureStore.join(layer, path) }

    private func outside(_ real: String) -> String {
        "leads to \(real), outside the folder of fixtures \(root); copy it there"
    }

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
            guard FileSystem.lies(real, in: root) else { return refuse(path, outside(real)) }
            if case .file = kind { return files[path] = false }
            guard !chain.contains(where: { FileSystem.lies($0, in: real) }) else {
                return refuse(path, "is a link to \(real), which contains the link itself: a loop")
            }
            visit(path, through: chain + [real], isPlain: false)
        }
    }
}
