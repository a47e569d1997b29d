package import Emulation
import Foundation
package import Understudy

/// A folder of changed fixtures that override the repository's.
package final class OwnFixtures: Sendable {
    private let folder: TemporaryFolder
    private let base: String

    /// An empty folder over the repository's fixtures or those of another folder.
    package init(over base: String = Repository.root + "/Fixtures") throws {
        folder = try TemporaryFolder()
        self.base = base
    }

    package var path: String { folder.path }

    package var store: FixtureStore { FixtureStore(layers: [folder.path, base]) }

    /// An emulator of that vendor alone: the others take most of the time of a start.
    package func emulator(of vendor: String) throws(FixtureProblem) -> Emulator {
        try Emulator(fixtures: store, loaders: Catalog.vendors.filter { $0.identity.id == vendor })
    }

    package func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(base)/\(name)", encoding: .utf8)
    }

    /// Adds a copy of a fixture in which every `old` is replaced by its `new`.
    package func put(_ name: String, _ changes: [(old: String, new: String)]) throws {
        try folder.write(changes.reduce(try text(name)) { $0.replacing($1.old, with: $1.new) }, to: name)
    }

    package func write(_ text: String, to name: String) throws { try folder.write(text, to: name) }

    package func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(folder.path)/\(name)") }
}

/// A folder that is removed with its last reference.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init(_ files: [String: String] = [:]) throws {
        path = FileManager.default.temporaryDirectory.path + "/understudy-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, text) in files { try write(text, to: name) }
    }

    package func copy() throws -> TemporaryFolder {
        let copy = try TemporaryFolder()
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            try FileManager.default.copyItem(atPath: "\(path)/\(name)", toPath: "\(copy.path)/\(name)")
        }
        return copy
    }

    package var files: [String] {
        get throws {
            try FileManager.default.subpathsOfDirectory(atPath: path).filter {
                var isFolder: ObjCBool = false
                return FileManager.default.fileExists(atPath: "\(path)/\($0)", isDirectory: &isFolder)
                    && !isFolder.boolValue
            }.sorted()
        }
    }

    package func text(of name: String) throws -> String {
        try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8)
    }

    package func write(_ text: String, to name: String) throws {
        let url = URL(filePath: path + "/" + name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    package func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(filePath: path + "/" + name))
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

package enum StoreEngine: String, CaseIterable, Sendable {
    case sqlite
    case postgres
}

package final class StoreHome: Sendable {
    package let engine: StoreEngine
    /// The file's path, or the URL.
    package let place: String
    private let folder: TemporaryFolder?

    package convenience init(_ engine: StoreEngine = .sqlite) throws {
        switch engine {
        case .sqlite: try self.init(TemporaryFolder())
        case .postgres: self.init(try PostgresServer.shared.get().makeDatabase())
        }
    }

    private init(_ folder: TemporaryFolder) { (engine, self.folder, place) = (.sqlite, folder, folder.path + "/u.db") }

    private init(_ url: String) { (engine, folder, place) = (.postgres, nil, url) }

    /// Opens the store. Several servers can share a PostgreSQL one; no test here is about one that cannot show that it is
    /// alive, however busy the machine is.
    package func open() throws -> any StateStore {
        switch engine {
        case .sqlite: try SQLiteStore(place)
        case .postgres: try PostgresStore(place, lease: .seconds(600), patience: .seconds(120))
        }
    }

    /// Another place with what is committed here, as if this one's servers were gone.
    package func copy() throws -> StoreHome {
        if let folder { return StoreHome(try folder.copy()) }
        return StoreHome(try PostgresServer.shared.get().copy(place))
    }
}

extension Emulator {
    /// Reloads the fixtures at once, as a ``FixtureWatch`` does after two looks.
    ///
    /// - Throws: the first problem with them; the old ones then stay in force.
    package func reload(_ fixtures: FixtureStore) throws(FixtureProblem) {
        let loaded: LoadedVendors
        do {
            loaded = try LoadedVendors(of: loaders, fixtures: fixtures)
        } catch {
            refuse(error)
            throw error
        }
        install(loaded)
    }
}
