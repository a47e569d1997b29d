import Emulation
import HTTPEngine
import Synchronization
import Understudy

/// A server inside the test process that listens on loopback until the process ends.
final class HostedServer: Sendable {
    let pipeline: Pipeline
    let sandboxes: SandboxDirectory
    let port: Int
    private let server: Server

    private init(_ configuration: UnderstudyConfiguration) throws {
        let layers = [configuration.fixtures, FixtureStore.installedFolder].compactMap { $0 }
        guard !layers.isEmpty else {
            throw UnderstudyRefusal("the installed fixtures were not found beside the tests; name a folder of fixtures")
        }
        let emulator: Emulator
        do throws(FixtureProblem) {
            emulator = try Emulator(fixtures: FixtureStore(layers: layers), settings: configuration.settings)
        } catch {
            throw UnderstudyRefusal(error.description)
        }
        pipeline = Pipeline(emulator)
        sandboxes = emulator.sandboxes
        do throws(ServerError) {
            server = try Server(ServerConfiguration(listeners: [.init(port: 0)]), handler: pipeline)
        } catch {
            throw UnderstudyRefusal("the server cannot listen: \(error)")
        }
        port = server.addresses[0].port
        emulator.listens(at: server.addresses)
        server.start()
    }

    private static let running = Mutex<[UnderstudyConfiguration: HostedServer]>([:])

    /// The server for that configuration, started on first use.
    static func shared(_ configuration: UnderstudyConfiguration) throws -> HostedServer {
        // Under the lock, or tests that begin together would each start one.
        try running.withLock { running in
            if let server = running[configuration] { return server }
            let server = try HostedServer(configuration)
            running[configuration] = server
            return server
        }
    }
}
