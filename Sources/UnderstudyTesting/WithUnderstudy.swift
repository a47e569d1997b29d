/// Runs a test against an emulator that listens on a free port of this machine, in a world of the test's own.
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
/// All tests with the same configuration share one server in this process, each in a sandbox of its own with its own users,
/// clock, settings, scenarios, faults and journal; so they may run at the same time. The sandbox goes when the body returns.
///
/// - Parameters:
///   - configuration: What the server is like; the installed fixtures and profile `documented` unless told otherwise.
///   - body: The test. It gets the server as this test sees it.
/// - Throws: what the body throws, and an ``UnderstudyRefusal`` when the server cannot be started.
public func withUnderstudy<Result>(
    _ configuration: UnderstudyConfiguration = UnderstudyConfiguration(),
    isolation: isolated (any Actor)? = #isolation,
    _ body: (UnderstudyServer) async throws -> Result
) async throws -> Result {
    let server = try UnderstudyServer(HostedServer.shared(configuration))
    defer { server.close() }
    return try await body(server)
}
