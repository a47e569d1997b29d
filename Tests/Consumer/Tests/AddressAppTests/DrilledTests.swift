import AddressApp
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What `understudy drill` runs: the app signs in at the address in the environment, and reads its addresses.
@Suite("The app, under drill", .enabled(if: ProcessInfo.processInfo.environment["UNDERSTUDY_URL"] != nil))
struct DrilledTests {
    @Test("signs in and reads its addresses three times")
    func reads() async throws {
        let address = try #require(ProcessInfo.processInfo.environment["UNDERSTUDY_URL"])
        let backend = try #require(URL(string: address))
        var signIn = URLRequest(url: backend.appending(path: "v2/credentials/login"))
        signIn.httpMethod = "POST"
        signIn.setValue(Ada.apiKey, forHTTPHeaderField: "x-rezolve-partner-apikey")
        signIn.httpBody = try JSONEncoder().encode([
            "username": "ada@example.test", "password": "not-a-secret-1", "deviceId": Ada.device,
        ])
        let (_, answer) = try await URLSession.shared.data(for: signIn)
        let field = try #require((answer as? HTTPURLResponse)?.value(forHTTPHeaderField: "authorization"))
        let account = AddressApp.Account(
            backend: backend, apiKey: Ada.apiKey, device: Ada.device, entity: "entity123")
        let app = AddressApp(account, token: String(field.dropFirst("Bearer ".count)))
        for _ in 1...3 { #expect(try await app.addresses() == ["Home"]) }
    }
}
