import Foundation
import Testing
import UnderstudyClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Started once, and ended with the test process.
let server = Task { try await Understudy.start(binary: Suite.binary) }

/// The app under test; yours has a setting for its backend's base URL.
struct App {
    let backend: URL
    let token: String

    func readAddresses() async throws -> Int? {
        var request = URLRequest(
            url: backend.appendingPathComponent("api/v1/partner/317/customer/entity123/addressbook"))
        request.setValue("a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6", forHTTPHeaderField: "x-rezolve-partner-apikey")
        request.setValue("wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a", forHTTPHeaderField: "x-rezolve-device-id")
        request.setValue("Bearer \(token)", forHTTPHeaderField: "authorization")
        return (try await URLSession.shared.data(for: request).1 as? HTTPURLResponse)?.statusCode
    }
}

@Test("A token expires after half an hour")
func tokenEnds() async throws {
    try await server.value.withSandbox(report: { Issue.record("\($0)") }) { sandbox in
        let app = App(
            backend: sandbox.baseURL, token: try await sandbox.mint("rezolve/login", ["expires_in": 1800]))
        #expect(try await app.readAddresses() == 200)
        try await sandbox.clock.advance(by: .seconds(31 * 60))
        #expect(try await app.readAddresses() == 401)
        try await sandbox.expectCalls(.exactly(1), where: ["failure": "token-expired"])
        #expect(try await sandbox.journal.last()?.reason?.hasPrefix("expiry: ") == true)
    }
}
