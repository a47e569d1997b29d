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
