import Support
import Testing

extension World {
    /// Credentials of Rezolve's partner 317, for the many tests that need some vendor's calls.
    static let apiKey = ("x-rezolve-partner-apikey", "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6")
    /// The device that minted tokens name.
    static let device = ("x-rezolve-device-id", "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a")

    func verify(_ order: String, _ query: String = "") async throws -> ReceivedAnswer {
        try await control(.post, "journal/verify" + query, order)
    }

    /// Arms a fault, or a list of them.
    func arm(_ fault: String) async throws { try await control(.put, "faults", fault).expect(200) }
}
