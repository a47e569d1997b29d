/// The files below a folder of one layer, and the first problem that stops the walk.
///
/// Links are followed while they stay in the layer: a mounted folder may consist of them.
struct FixtureWalk {
    /// How many files and folders one folder of a layer may hold; the installed fixtures of a vendor are a few dozen.
    static let mostEntries = 4096
    /// How deeply folders may be nested.
    static let mostFolders = 32

    /// The files' paths in the layer, unordered, without hidden files.
    private(set) var paths: [String] = []
    /// The first entry that is neither file nor folder, leaves the layer, or exceeds a limit.
    private(set) var problem: FixtureProblem?

    /// The folder of the layer.
    let layer: String
    private let root: String
    private var entries = 0

    /// Walks the folder at that path in a layer; an empty path is the layer itself.
    init(_ layer: String, below folder: String) {
        self.layer = layer
        root = FileSystem.realPath(layer) ?? layer
        guard let start = FileSystem.realPath(full(folder)) else { return }
        if FileSystem.lies(start, in: root) { visit(folder, through: [start]) } else { refuse(folder, outside(start)) }
    }

    private func full(_ path: String) -> String { path.isEmpty ? layer : FixtureStore.join(layer, path) }

    private func outside(_ real: String) -> String {
        "leads to \(real), outside the folder of fixtures \(root); copy it there"
    }

    private mutating func refuse(_ path: String, _ message: String) {
        if problem == nil { problem = FixtureProblem(file: FixtureStore.shown(full(path)), message: message) }
    }

    /// - Parameter chain: the real paths of the folder and its ancestors in the walk.
    private mutating func visit(_ folder: String, through chain: [String]) {
        guard chain.count <= Self.mostFolders else {
            return refuse(folder, "is more than \(Self.mostFolders) folders deep")
        }
        let names = FileSystem.names(in: full(folder), atMost: Self.mostEntries + 1)
        entries += names.count
        guard entries <= Self.mostEntries else {
            return refuse(
                folder,
                "the fixtures hold more than \(Self.mostEntries) files and folders up to here; expected a few dozen. Is it the right folder?"
            )
        }
        for name in names.sorted() where problem == nil {
            enter(folder.isEmpty ? name : "\(folder)/\(name)", name, through: chain)
        }
    }

    private mutating func enter(_ path: String, _ name: String, through chain: [String]) {
        // It may have disappeared in the meantime.
        guard let (kind, isLink) = FileSystem.kind(of: full(path)), let parent = chain.last else { return }
        switch kind {
        case .file: paths.append(path)
        case .other(let words): refuse(path, words)
        case .folder where !isLink: visit(path, through: chain + ["\(parent)/\(name)"])
        case .folder:
            guard let real = FileSystem.realPath(full(path)) else { return }
            guard FileSystem.lies(real, in: root) else { return refuse(path, outside(real)) }
            guard !chain.contains(where: { FileSystem.lies($0, in: real) }) else {
                return refuse(path, "is a link to \(real), which contains the link itself: a loop")
            }
            visit(path, through: chain + [real])
        }
    }
}
