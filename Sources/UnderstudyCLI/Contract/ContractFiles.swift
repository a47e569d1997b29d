import Contracts
import Emulation
import Understudy

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The files of a run: those named, those in the named folders, or those of the fixtures.
enum ContractFiles {
    private typealias Source = (path: String, bytes: [UInt8])

    /// Reads all files before any request is sent, so that a mistake in the last one wastes no run.
    static func read(_ paths: [String], else fixtures: FixtureStore) throws -> [HurlFile] {
        let files = paths.isEmpty ? try inFixtures(fixtures) : try paths.flatMap(named).map(parse)
        guard !files.isEmpty else {
            let place = paths.isEmpty ? "the fixtures have" : "\(paths.joined(separator: ", ")) has"
            throw Misuse("\(place) no contract cases; expected files with names such as sign-in.hurl.")
        }
        return files
    }

    /// The contract cases of the vendors' fixtures, in the catalog's order.
    static func inFixtures(_ store: FixtureStore) throws -> [HurlFile] {
        try Catalog.vendors.map { "\($0.identity.id)/contract" }.flatMap { folder in
            try store.names(in: folder).filter(isHurl).map { name in
                let file = try Misuse.rephrase { () throws(FixtureProblem) in try store.file("\(folder)/\(name)") }
                return try parse((file.path, file.bytes))
            }
        }
    }

    private static func parse(_ source: Source) throws -> HurlFile {
        try Misuse.rephrase { () throws(HurlProblem) in try HurlFile(name: source.path, bytes: source.bytes) }
    }

    private static func named(_ path: String) throws -> [Source] {
        guard FileSystem.holds(path) else { throw Misuse("there is no file or folder \(path).") }
        guard FileSystem.isFolder(path) else { return [try file(path)] }
        // An unreadable folder has no cases.
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
        let folder = path.hasSuffix("/") ? path : path + "/"
        return try names.filter(isHurl).sorted().map { try file(folder + $0) }
    }

    private static func file(_ path: String) throws -> Source {
        (path, try Files.read(path, "the contract file"))
    }

    private static func isHurl(_ name: String) -> Bool { name.hasSuffix(".hurl") }
}
