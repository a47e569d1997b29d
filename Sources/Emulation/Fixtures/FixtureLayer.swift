package import JSON

/// A fixture folder in use, and its files that are never read.
package struct FixtureLayer: Sendable {
    /// The folder, from the root of the file system.
    package let folder: String
    /// Unread files, or whole folders with a trailing slash, that look like fixtures; each with a hint.
    package let unread: [String]
    /// Remarks on the files of all layers, given for the topmost one.
    let remarks: [String]

    /// A warning for each unread file, and the remarks.
    package var warnings: [String] {
        unread.map { "nobody reads \(FixtureStore.join(folder, $0))" } + remarks
    }

    package var json: JSON {
        ["folder": .string(folder), "unread": .array(unread.map(JSON.string))]
    }
}

extension FixtureStore {
    /// How the names of schemas end, which editors read and no server does.
    package static let schemaSuffix = ".schema.json"

    /// The layers, topmost first, once all vendors have been read.
    ///
    /// The bottom layer is not checked: it is complete and ships with the program.
    ///
    /// - Parameter vendors: the folders of the vendors.
    /// - Throws: the problem that prevents listing a folder.
    func layers(of vendors: [String]) throws(FixtureProblem) -> [FixtureLayer] {
        guard let bottom = layers.last else { return [] }
        return try layers.map { layer throws(FixtureProblem) in
            FixtureLayer(
                folder: Self.absolute(layer),
                unread: layer == bottom ? [] : try unreadFixtures(of: layer, over: bottom, vendors),
                remarks: layer == layers.first ? remarks : [])
        }
    }

    /// Remarks on the files that were read.
    package var remarks: [String] { sight.warnings.all.map(\.description) }

    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : join(FileSystem.currentFolder, path)
    }

    private func unreadFixtures(of layer: String, over bottom: String, _ vendors: [String]) throws(FixtureProblem)
        -> [String]
    {
        let unread = try usage(of: layer).unread.filter { path in
            // Files that ship with the program are right where they are, such as schemas for editors.
            Self.looksLikeFixture(path) && !FileSystem.holds(Self.join(bottom, path))
        }
        return Self.hinted(unread, vendors)
    }

    /// Files that nobody reads, and the folders of no vendor as a whole; each with a hint.
    package static func hinted(_ unread: [String], _ vendors: [String]) -> [String] {
        let unknown = unread.compactMap(folder).filter { !vendors.contains($0) }
        let inside = unread.filter { folder(of: $0).map(vendors.contains) ?? true }
        return Set(unknown).sorted().map { "\($0)/\(Nearest.hint(to: $0, among: vendors))" }
            + inside.map { $0.hasSuffix(".yml") ? "\($0); files of fixtures end in .yaml" : $0 }
    }

    /// Documentation, code, schemas for editors, and what only others read are not fixtures of a server: contract cases,
    /// what documents say of answers and requests, and drills.
    private static func looksLikeFixture(_ path: String) -> Bool {
        let parts = path.split(separator: "/").dropFirst()
        if parts.first == "requests.yaml" || ["answers", "drills"].contains(parts.first) && path.hasSuffix(".yaml") {
            return false
        }
        return !path.hasSuffix(FixtureStore.schemaSuffix)
            && ["yaml", "yml", "json", "pem"].contains { path.lowercased().hasSuffix("." + $0) }
    }

    private static func folder(of path: String) -> String? {
        path.contains("/") ? path.split(separator: "/").first.map(String.init) : nil
    }
}
