import Foundation
import Testing
import UnderstudyClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The tests on the pages that show how to use each vendor; the pages quote them.
@Suite("Using")
struct UseTests {
    static let rezolve = [
        "x-rezolve-partner-apikey": "a1b2c3d4-e5f6-g7h8-i9j0-a1b2c3d4e5f6", "x-rezolve-device-id": "my-phone",
    ]
    static let addresses = "/api/v1/partner/317/customer/entity123/addressbook"
    static let operatorKey = ["x-ims-operator-key": "ims-operator-test-key"]
    static let publicKey = ["authorization": "Token pubkey-demo-1"]
    static let ana: JSONValue = ["registered": "ana@example.test"]
    static let space = "/apispaces/b1f0c3d2-5a47-4c1e-9d88-0e6a7f2b4c15"

    @Test("Rezolve: a session is renewed after half an hour")
    func rezolve() async throws {
        try await Suite.inSandbox { sandbox in
            let token = try await sandbox.mint("rezolve/login", ["device_id": "my-phone"])
            #expect(try await sandbox.ask(Self.addresses, token: token, headers: Self.rezolve).status == 200)
            try await sandbox.clock.advance(by: .seconds(31 * 60))
            #expect(try await sandbox.ask(Self.addresses, token: token, headers: Self.rezolve).status == 401)
            let ping = try await sandbox.ask("/v2/credentials/ping", token: token, headers: Self.rezolve)
            let renewed = try #require(ping.body["accessToken"]?.string).replacingOccurrences(of: "Bearer ", with: "")
            #expect(try await sandbox.ask(Self.addresses, token: renewed, headers: Self.rezolve).status == 200)
            try await sandbox.expectCalls(.exactly(1), where: ["failure": "token-expired"])
        }
    }

    @Test("IMS: a user is known only after activation")
    func ims() async throws {
        try await Suite.inSandbox { sandbox in
            let dora: JSONValue = ["tenant": "demo", "email": "dora@example.test", "enterprise_id": "EMP-0005"]
            let user = try await sandbox.ask("/ims/v1/users", body: dora, headers: Self.operatorKey)
            let id = try #require(user.body["id"]?.string)
            let token = try await sandbox.mint("ims/user", ["sub": "EMP-0005"])
            #expect(try await sandbox.ask("/ims/v1/me", token: token).status == 403)
            _ = try await sandbox.ask("/ims/v1/users/\(id)/activate", body: [:], headers: Self.operatorKey)
            #expect(try await sandbox.ask("/ims/v1/me", token: token).body["state"] == "active")
            try await sandbox.expectCalls(.exactly(1), where: ["failure": "user-not-active"])
        }
    }

    @Test("Bloomreach: the purchase arrives, and an old token is refused")
    func bloomreach() async throws {
        try await Suite.inSandbox { sandbox in
            let token = try await sandbox.mint("bloomreach/customer-token")
            _ = try await sandbox.ask(
                "/track/v2/projects/demo-project-1/customers/events",
                body: ["customer_ids": Self.ana, "event_type": "purchase", "properties": ["total_price": 12]],
                headers: Self.publicKey)
            try await sandbox.act(
                "bloomreach/expect-event", ["event_type": "purchase", "customer": Self.ana, "exactly": 1])
            try await sandbox.clock.advance(by: .seconds(61 * 60))
            let inbox = try await sandbox.ask(
                "/webxp/projects/demo-project-1/appinbox/fetch", token: token, body: ["customer_ids": Self.ana])
            #expect(inbox.status == 401)
            try await sandbox.expectCalls(.exactly(1), where: ["failure": "customer-token-expired"])
        }
    }

    @Test("Comapi: what the other side writes is delivered")
    func comapi() async throws {
        try await Suite.inSandbox { sandbox in
            let token = try await sandbox.mint("comapi/session", ["profile": "mira"])
            _ = try await sandbox.ask(
                "\(Self.space)/conversations", token: token, body: ["id": "trip-42", "participants": [["id": "bob"]]])
            try await sandbox.act(
                "comapi/send-message", ["conversation": "trip-42", "profile": "bob", "text": "Hello"])
            let list = try await sandbox.ask("\(Self.space)/conversations/trip-42/messages", token: token)
            let message = try #require(list.body["messages"]?[0])
            #expect(message["context"]?["sentBy"] == "bob" && message["parts"]?[0]?["data"] == "Hello")
            try await sandbox.expectCalls(.exactly(1), where: ["route": "message.list", "status": 200])
        }
    }

    @Test("Okta: a token is good for an hour")
    func okta() async throws {
        try await Suite.inSandbox { sandbox in
            let token = try await sandbox.mint("okta/access", ["user": "ada@example.test"])
            let ada = try await sandbox.ask("/oauth2/default/v1/userinfo", token: token)
            #expect(ada.body["email"] == "ada@example.test")
            try await sandbox.clock.advance(by: .seconds(61 * 60))
            #expect(try await sandbox.ask("/oauth2/default/v1/userinfo", token: token).status == 401)
            #expect(try await sandbox.journal.last()?.reason?.hasPrefix("expiry: ") == true)
        }
    }
}

extension Sandbox {
    /// Stands for the app under test: a call, of which it sees the status and the content.
    func ask(
        _ path: String, token: String? = nil, body: JSONValue? = nil, headers: [String: String] = [:]
    ) async throws -> (status: Int, body: JSONValue) {
        var request = URLRequest(url: try #require(URL(string: baseURL.absoluteString + path)))
        request.setValue("application/json", forHTTPHeaderField: "content-type")
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "authorization") }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        if let body {
            request.httpMethod = "POST"
            request.httpBody = try JSONEncoder().encode(body)
        }
        let (content, response) = try await Suite.session.data(for: request)
        let status = try #require(response as? HTTPURLResponse).statusCode
        return (status, content.isEmpty ? nil : try JSONDecoder().decode(JSONValue.self, from: content))
    }
}
