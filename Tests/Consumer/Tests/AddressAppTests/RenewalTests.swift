import AddressApp
import Foundation
import Testing
import UnderstudyTesting

/// Ada from the sample accounts, as the app knows her.
enum Ada {
    static let apiKey = "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6"
    static let device = "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a"

    /// The app with Ada signed in; her token is valid for a quarter of an hour.
    static func app(_ server: UnderstudyServer) async throws -> AddressApp {
        let account = AddressApp.Account(
            backend: try #require(URL(string: server.baseURL)), apiKey: apiKey, device: device, entity: "entity123")
        return AddressApp(account, token: try await server.mint("rezolve/login", ["expires_in": 900]))
    }
}

@Suite("The app renews its token")
struct RenewalTests {
    @Test("once, when the backend says that it is expired, and goes on")
    func once() async throws {
        try await withUnderstudy { server in
            try await server.activate("rezolve-token-expires-mid-session")
            let app = try await Ada.app(server)
            for _ in 1...4 { #expect(try await app.addresses() == ["Home"]) }
            #expect(await app.renewals == 1)
            await server.expectCalls(.exactly(1), where: ["failure": "token-expired"])
            await server.expectCalls(.exactly(1), where: ["route": "rua.ping", "status": 200])
            await server.expectCalls(.exactly(5), where: ["route": "addressbook.list"])
        }
    }

    @Test("once only, when the user was logged out elsewhere")
    func loggedOut() async throws {
        try await withUnderstudy { server in
            try await server.activate("rezolve-logged-out-elsewhere")
            let app = try await Ada.app(server)
            await #expect(throws: AddressApp.Problem.loggedOut) { try await app.addresses() }
            await server.expectCalls(.exactly(2), where: ["failure": "token-expired"])
        }
    }

    @Test("when half an hour has passed on the server's clock")
    func clock() async throws {
        try await withUnderstudy { server in
            let app = try await Ada.app(server)
            try await server.advanceClock(by: .seconds(31 * 60))
            #expect(try await app.addresses() == ["Home"])
            #expect(await app.renewals == 1)
        }
    }

    @Test("not at all when the backend is broken")
    func broken() async throws {
        try await withUnderstudy { server in
            try await server.arm(["route": "addressbook.list", "fail": "service-unavailable"])
            let app = try await Ada.app(server)
            await #expect(throws: AddressApp.Problem.refused(503)) { try await app.addresses() }
            #expect(try await app.addresses() == ["Home"])
            await server.expectCalls(.never, where: ["route": "rua.ping"])
        }
    }

    @Test("an expectation that does not come true names the nearest call and what it missed")
    func complaint() async throws {
        try await withUnderstudy { server in
            _ = try await Ada.app(server).addresses()
            await withKnownIssue {
                await server.expectCalls(
                    .exactly(1),
                    where: ["route": "addressbook.list", "header": ["x-rezolve-device-id": "another"]])
            } matching: { issue in
                let text = issue.comments.map(\.rawValue).joined()
                return text.contains("header x-rezolve-device-id: expected \"another\", found \(Ada.device)")
            }
        }
    }

    @Test("what does not exist is refused by name")
    func unknown() async throws {
        try await withUnderstudy { server in
            let problem = await #expect(throws: UnderstudyRefusal.self) {
                try await server.activate("rezolve-token-expires-mid-sesion")
            }
            #expect(problem?.description.contains("did you mean “rezolve-token-expires-mid-session”?") == true)
        }
    }
}
