package import Emulation
import HTTPEngine
import HTTPTypes
package import Understudy
import Wire

/// An emulator with the repository's fixtures, its pipeline, and a server in front of it.
package final class Stage: Sendable {
    /// The emulator.
    package let emulator: Emulator
    let pipeline: Pipeline
    /// The port of the server.
    package let port: Int
    /// Where it keeps its sandboxes; `nil` if it keeps none.
    package let home: StoreHome?
    private let server: Server

    /// A separate server that keeps its sandboxes there.
    package convenience init(
        keeping home: StoreHome, _ fixtures: FixtureStore = Repository.fixtures,
        _ loaders: [VendorLoader] = Catalog.vendors
    ) throws {
        try self.init(
            Emulator(fixtures: fixtures, loaders: loaders, keeper: StateKeeper(home.open())), keeping: home)
    }

    /// A separate server for tests that need another emulator than the shared one.
    package init(_ emulator: Emulator, keeping home: StoreHome? = nil) throws {
        self.emulator = emulator
        self.home = home
        pipeline = Pipeline(emulator)
        // On a busy machine these tests are slow clients, too, who must not be sent away.
        var limits = Limits()
        for limit in [\Limits.idle, \.header, \.body, \.write] { limits[keyPath: limit] = .seconds(600) }
        server = try Server(
            ServerConfiguration(listeners: [.init(port: 0)], loops: 1, limits: limits), handler: pipeline)
        port = server.addresses[0].port
        server.start()
    }

    /// The maximum content length at a target, in bytes.
    func bodyLimit(_ method: HTTPRequest.Method, _ target: String) -> Int {
        pipeline.bodyLimit(for: Request(method: method, target: target, authority: "127.0.0.1", fields: FieldLines([])))
    }

    /// The stage shared by all cases, each in its own sandbox.
    package static func shared() throws -> Stage { try common.get() }

    private static let common = Result { try Stage(Emulator(fixtures: Repository.fixtures)) }
}
