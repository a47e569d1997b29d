package import Understudy

/// An engine that stores sandboxes.
package enum StoreEngine: String, CaseIterable, Sendable {
    case sqlite
    case postgres
}

/// A place where sandboxes are stored.
package final class StoreHome: Sendable {
    /// What stores them.
    package let engine: StoreEngine
    /// The file's path, or the URL.
    package let place: String
    private let folder: TemporaryFolder?

    /// An empty place.
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
