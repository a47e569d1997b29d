import Synchronization

/// The fixture files: a complete bottom layer, overlaid file by file.
public struct FixtureStore: Sendable {
    /// A file with the path that people know it by.
    package struct File: Sendable {
        package let path: String
        package let bytes: [UInt8]
        package let digest: FixtureDigest
        /// Whether tests have read this very content at this place, so that a start need not look for mistakes in it.
        package fileprivate(set) var isJudged = false
        /// Where remarks go; `nil` for a file of the bottom layer.
        fileprivate(set) var warnings: FixtureWarnings?

        package init(path: String, bytes: [UInt8]) {
            (self.path, self.bytes, digest) = (path, bytes, FixtureDigest(of: bytes))
        }
    }

    /// The maximum total size of the files in bytes: every change reads them again.
    private static let mostBytes = 256 << 20

    /// Folders, the topmost first.
    package let layers: [String]
    /// Files that go before those of the folders, by their paths.
    package var replaced: [String: File] = [:]
    /// The digests of the judged files; `nil` when the bottom layer did not come with the program.
    private let judged: [UInt64]?
    let sight = Sight()

    /// What was seen of the files: the layers as first walked, and the files that were read.
    final class Sight: Sendable {
        fileprivate let walked = Mutex<[FixtureWalk]?>(nil)
        /// The files by full path, and how many bytes they had.
        fileprivate let read = Mutex((files: [String: (path: String, digest: FixtureDigest)](), bytes: 0))
        let here = FileSystem.currentFolder
        let warnings = FixtureWarnings()

        /// Notes a file that was read, and returns how many bytes all of them had.
        func note(_ full: String, _ path: String, _ file: File) -> Int {
            read.withLock { read in
                read.bytes += file.bytes.count
                read.files[full] = (path, file.digest)
                return read.bytes
            }
        }

        func holds(_ full: String) -> Bool { read.withLock { $0.files[full] != nil } }
    }

    /// Creates a store over these folders; a file in an earlier one hides the same file in a later one.
    ///
    /// The first access lists the folders; files created later are not seen. A bottom layer that came with the program is
    /// not listed: of it, only what is read is looked at.
    ///
    /// - Parameter judged: the digests of the files in such a layer; `nil` when there is none, or all must be judged.
    package init(layers: [String], judged: [UInt64]? = nil) { (self.layers, self.judged) = (layers, judged) }

    /// A short string that changes with any file that was read.
    package var fingerprint: String {
        var fingerprint = FixtureDigest()
        for (path, digest) in sight.read.withLock({ $0.files.values.sorted { $0.path < $1.path } }) {
            fingerprint.mix(Array(path.utf8))
            fingerprint.mix(digest)
        }
        return fingerprint.text
    }

    /// The layers that are listed, walked once.
    var walks: [FixtureWalk] {
        sight.walked.once { (judged == nil ? layers[...] : layers.dropLast()).map(FixtureWalk.init) }
    }

    /// - Throws: the first entry of a layer that is neither file nor folder, leaves the layer, or exceeds a limit.
    package func checkEntries() throws(FixtureProblem) {
        if let problem = walks.lazy.compactMap(\.problem).first { throw problem }
    }

    package static func folder(among candidates: [String], holding files: [String]) -> String? {
        candidates.first { folder in files.allSatisfy { FileSystem.holds(join(folder, $0)) } }
    }

    package var missingLayer: String? { layers.first { !FileSystem.holds($0) } }

    /// Reads the file at that path, such as `VENDOR/accounts.yaml`.
    ///
    /// - Throws: a problem when no layer has the file or it cannot be read.
    package func file(_ path: String) throws(FixtureProblem) -> File {
        guard let (full, found) = try look(path) else {
            throw FixtureProblem(file: path, message: "no such file; looked in \(layers.joined(separator: ", "))")
        }
        var file = found
        file.isJudged = judged?.contains(Self.mark(path, file.digest)) == true
        if let bottom = layers.last, full != Self.join(bottom, path) { file.warnings = sight.warnings }
        let count = sight.note(full, path, file)
        guard count <= Self.mostBytes else {
            throw FixtureProblem(
                file: file.path,
                message: "the fixtures up to here have \(count) bytes; \(Self.mostBytes) are allowed")
        }
        return file
    }

    /// What the list of judged files says of a file.
    package static func mark(_ path: String, _ digest: FixtureDigest) -> UInt64 {
        var mark = FixtureDigest(of: Array(path.utf8))
        mark.mix(digest)
        return mark.hash
    }

    /// The file at that path in the first layer that has one, and its full path.
    private func look(_ path: String) throws(FixtureProblem) -> (full: String, File)? {
        if let file = replaced[path] { return (file.path, file) }
        for walk in walks {
            let full = Self.join(walk.layer, path)
            if let file = try Self.file(walk.read(path), at: full, from: sight.here) { return (full, file) }
        }
        guard judged != nil, let file = try installed(path) else { return nil }
        return (Self.join(layers[layers.count - 1], path), file)
    }

    fileprivate func installed(_ path: String) throws(FixtureProblem) -> File? {
        guard let bottom = layers.last else { return nil }
        let full = Self.join(bottom, path)
        let reading = FileSystem.readPlain(full) ?? FileSystem.read(full, in: FileSystem.realPath(bottom) ?? bottom)
        return try Self.file(reading, at: full, from: sight.here)
    }

    private static func file(
        _ reading: FileSystem.Reading, at full: String, from here: String
    ) throws(FixtureProblem) -> File? {
        let path = shown(full, from: here)
        switch reading {
        case .content(let bytes): return File(path: path, bytes: bytes)
        case .absent: return nil
        case .unreadable: throw FixtureProblem(file: path, message: "cannot be read; check its permissions")
        case .refused(let words): throw FixtureProblem(file: path, message: words)
        }
    }

    /// The files below a layer that were read, and those that were not, by their paths within it.
    package func usage(
        of layer: String, where isAsked: (String) -> Bool = { _ in true }
    ) throws(FixtureProblem) -> (read: [String], unread: [String]) {
        guard let walk = walks.first(where: { $0.layer == layer }) else { return ([], []) }
        if let problem = walk.problem { throw problem }
        let all = walk.paths.filter(isAsked).sorted()
        return (all.filter { sight.holds(Self.join(layer, $0)) }, all.filter { !sight.holds(Self.join(layer, $0)) })
    }

    package func document(_ path: String) throws(FixtureProblem) -> FixtureNode {
        try FixtureNode(file: try file(path))
    }

    /// Reads a YAML document that is no fixture; links may not lead out of its folder.
    package static func document(alone path: String) throws(FixtureProblem) -> FixtureNode {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let reading = FileSystem.read(path, in: FileSystem.realPath(folder) ?? folder)
        guard let file = try file(reading, at: path, from: FileSystem.currentFolder) else {
            throw FixtureProblem(file: path, message: "no such file; looked in \(folder)")
        }
        return try FixtureNode(file: file)
    }

    /// The names of the files in that folder across all layers, sorted; empty when no layer has the folder.
    package func names(in folder: String) -> [String] {
        let unlisted = judged == nil ? nil : layers.last.map { FileSystem.names(in: Self.join($0, folder)) }
        return walks.reduce(into: Set(unlisted ?? [])) { $0.formUnion($1.names(in: folder)) }.sorted()
    }

    package static func join(_ folder: String, _ path: String) -> String {
        if folder == "." { return path }
        return folder.hasSuffix("/") ? folder + path : folder + "/" + path
    }

    /// Paths below the working directory are shown relative to it.
    static func shown(_ path: String, from here: String = FileSystem.currentFolder) -> String {
        path.hasPrefix(here + "/") ? String(path.dropFirst(here.count + 1)) : path
    }
}

public struct VendorFixtures: Sendable {
    private let store: FixtureStore
    private let folder: String
    private let makings = Makings()

    /// Values made from the files, by type.
    private final class Makings: Sendable {
        let values = Mutex<[ObjectIdentifier: any Sendable]>([:])
    }

    public init(store: FixtureStore, folder: String) { (self.store, self.folder) = (store, folder) }

    package func file(_ path: String) throws(FixtureProblem) -> FixtureStore.File {
        try store.file("\(folder)/\(path)")
    }

    /// The same file of the bottom layer; `nil` if it is this one, or there is none.
    func installed(_ path: String, under file: FixtureStore.File) throws(FixtureProblem) -> FixtureStore.File? {
        let installed = try store.installed("\(folder)/\(path)")
        return installed?.path == file.path ? nil : installed
    }

    /// Reads the file that a fixture names, from the vendor's folder; a problem is reported where it is named.
    package func file(named node: FixtureNode) throws(FixtureProblem) -> FixtureStore.File {
        let path = try node.string()
        return try node.locate { () throws(FixtureProblem) in try file(path) }
    }

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

    package func names(in subfolder: String) -> [String] { store.names(in: "\(folder)/\(subfolder)") }

    /// Reads files that nothing else needs; see ``FixtureStore/collecting(of:_:)``.
    func forEachFile(
        in subfolder: String, _ read: (FixtureStore.File) throws(FixtureProblem) -> Void
    ) throws(FixtureProblem) {
        for name in names(in: subfolder) where name.hasSuffix(".yaml") {
            try store.collecting(of: folder) { () throws(FixtureProblem) in try read(try file("\(subfolder)/\(name)")) }
        }
    }
}

/// What is made of a file when it is first needed, since tests have judged the file; of any other file, at once.
package final class Deferred<Value: Sendable>: Sendable {
    private final class Made: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private let made = AtomicLazyReference<Made>()
    private let make: @Sendable () throws(FixtureProblem) -> Value

    /// - Throws: the first problem with a file that was not judged.
    package init(
        _ file: FixtureStore.File, _ make: @escaping @Sendable () throws(FixtureProblem) -> Value
    ) throws(FixtureProblem) {
        self.make = make
        if !file.isJudged { _ = try get() }
    }

    package func get() throws(FixtureProblem) -> Value {
        if let made = made.load() { return made.value }
        return made.storeIfNil(Made(try make())).value
    }
}
