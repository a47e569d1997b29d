import Foundation
import Testing
import UnderstudyClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What all tests share: the program, one server, and calls as an app would make them.
enum Suite {
    static let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../../..").standardizedFileURL

    /// The program: that of `UNDERSTUDY_BINARY`, or this repository's debug build.
    static let binary: String = {
        let named = ProcessInfo.processInfo.environment["UNDERSTUDY_BINARY"] ?? ""
        return named.isEmpty ? root.appendingPathComponent(".build/debug/understudy").path : named
    }()

    /// Started once, and ended with the process.
    static let server = Task { try await Understudy.start(binary: binary) }

    /// A session that keeps nothing, for calls to vendors.
    static let session = URLSession(configuration: .ephemeral)

    static let book = "/api/v1/partner/317/customer/entity123/addressbook"
    /// 2027-01-15T08:00:00Z
    static let moment = Date(timeIntervalSince1970: 1_800_000_000)

    /// Runs a test in a sandbox of its own.
    static func inSandbox(_ words: String = #function, _ body: (Sandbox) async throws -> Void) async throws {
        try await server.value.withSandbox(words, body)
    }
}

/// The error of that type that the body throws; an issue when it throws none.
///
/// `#expect(throws:)` returns it only since Swift 6.1.
func error<Failure: Error>(
    _ type: Failure.Type, at place: SourceLocation = #_sourceLocation, of body: () async throws -> some Any
) async throws -> Failure {
    do {
        let result = try await body()
        Issue.record("no \(type), but \(result)", sourceLocation: place)
        throw CancellationError()
    } catch let error as Failure {
        return error
    }
}

extension Sandbox {
    /// Calls a vendor as an app would, and returns the status.
    func call(
        _ method: String = "GET", _ path: String = Suite.book, token: String? = nil, at base: URL? = nil,
        headers: [String: String] = [:]
    ) async throws -> Int {
        var request = URLRequest(url: try #require(URL(string: (base ?? baseURL).absoluteString + path)))
        request.httpMethod = method
        request.setValue("a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6", forHTTPHeaderField: "x-rezolve-partner-apikey")
        request.setValue("wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a", forHTTPHeaderField: "x-rezolve-device-id")
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "authorization") }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (_, response) = try await Suite.session.data(for: request)
        return try #require(response as? HTTPURLResponse).statusCode
    }
}
