public import Emulation
import HTTPEngine
import Synchronization
import Understudy

#if canImport(Testing)
    import Testing
#endif
#if canImport(XCTest)
    import XCTest
#endif

/// Runs a test against an emulator that listens on a free loopback port, in a sandbox of the test's own.
///
/// ```swift
/// @Test func `an expired token is renewed once`() async throws {
///     try await withUnderstudy { server in
///         let app = App(backend: server.baseURL)
///         try await server.activate("shop-token-expires-mid-session")
///         try await app.refreshThreeTimes()
///         await server.expectCalls(.exactly(1), where: ["failure": "token-expired"])
///     }
/// }
/// ```
///
/// All tests with the same configuration share one server in this process. Each has its own users, clock, settings,
/// scenarios, faults and journal, so tests can run in parallel. The sandbox is removed when the body returns.
///
/// - Parameters:
///   - configuration: The server's configuration; by default the installed fixtures and the profile `documented`.
///   - body: The test.
/// - Throws: what the body throws, and an ``UnderstudyRefusal`` when the server cannot start.
public func withUnderstudy<Result>(
    _ configuration: UnderstudyConfiguration = UnderstudyConfiguration(),
    isolation: isolated (any Actor)? = #isolation,
    _ body: (UnderstudyServer) async throws -> Result
) async throws -> Result {
    let server = try UnderstudyServer(HostedServer.shared(configuration))
    defer { server.close() }
    return try await body(server)
}

/// The configuration of a test server; tests with equal configurations share one.
public struct UnderstudyConfiguration: Sendable, Hashable {
    /// A folder of fixtures that override the installed ones; `nil` to use only those.
    public var fixtures: String?
    /// The vendors' settings that each sandbox starts with.
    public var settings: Settings

    /// A configuration with these parts.
    public init(fixtures: String? = nil, settings: Settings = Settings()) {
        self.fixtures = fixtures
        self.settings = settings
    }
}

/// Why the emulator rejected what a test asked for: an unknown name, a wrong value, a broken fixture.
public struct UnderstudyRefusal: Error, Hashable, CustomStringConvertible {
    /// What was found, and what was expected.
    public let description: String

    init(_ description: String) { self.description = description }
}

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

/// Reports unmet expectations to the test framework of the running test.
struct Issues: Sendable {
    /// Whether a Swift Testing test created this. Read once at creation: a detached task no longer knows its test.
    private let isSwiftTesting: Bool

    init() {
        #if canImport(Testing)
            isSwiftTesting = Test.current != nil
        #else
            isSwiftTesting = false
        #endif
    }

    /// Records an issue at a place in the test, with Swift Testing if one of its tests runs, otherwise with XCTest.
    func record(_ message: String, fileID: String, filePath: StaticString, line: UInt, column: UInt) {
        #if canImport(Testing)
            if isSwiftTesting {
                let place = SourceLocation(
                    fileID: fileID, filePath: "\(filePath)", line: Int(line), column: Int(column))
                Issue.record(Comment(rawValue: message), sourceLocation: place)
                return
            }
        #endif
        #if canImport(XCTest)
            XCTFail(message, file: filePath, line: line)
        #else
            preconditionFailure(message)
        #endif
    }
}
