import Expectations
import JSON
import Support
import Testing

@testable import Okta

@Suite("Sign-ins and recoveries by the authentication API") struct AuthnTests {
    private static let path = "/api/v1/authn"

    private func send(_ world: World, _ step: String, _ members: JSONObject) async throws -> ReceivedAnswer {
        try await world.call(.post, Self.path + step, .jsonContent, JSON.object(members).text)
    }

    @Test("a device approves, and the session is one of two factors") func push() async throws {
        let world = try await World()
        let token: JSON = .string(try await world.stateToken())
        let path = "/factors/\(Example.push)/verify"
        for (answer, result) in [(nil, "WAITING"), (nil, "WAITING"), ("DENY", "REJECTED"), (nil, "WAITING")] {
            if let answer {
                try await world.act("answer-push", ["user": "ada@example.test", "result": .string(answer)])
            }
            expect(try await send(world, path, ["stateToken": token]).json["factorResult"]?.string, is: result)
        }
        try await world.act("answer-push", ["user": "ada@example.test"])
        let done = try await send(world, path, ["stateToken": token])
        expect(done.json["status"], is: "SUCCESS")
        let session = try await world.manage(
            "/api/v1/sessions", #"{"sessionToken":"\#(done.json["sessionToken"]?.string ?? "")"}"#)
        expect(session.json["amr"], is: ["mfa", "pwd", "swk"])
    }

    @Test(
        "phones are shown with the code of their country and their last digits",
        arguments: [
            ("+15550100", "+1 XXX-XXX-0100"), ("+1-555-415-1337", "+1 XXX-XXX-1337"),
            ("+49 170 1239876", "+49 XXX-XXX-9876"), ("+79161234567", "+7 XXX-XXX-4567"),
            ("+353861234567", "+353 XXX-XXX-4567"), ("5550100", "+1 XXX-XXX-0100"),
        ])
    func masked(_ phone: String, _ shown: String) { expect(OktaPhone.masked(phone), is: shown) }

    @Test("a transaction lasts five minutes after each request") func lifetime() async throws {
        let world = try await World()
        let token: JSON = .string(try await world.stateToken())
        for moment in [World.exampleMoment + 299, World.exampleMoment + 598] {
            try await world.freeze(at: moment)
            try await send(world, "", ["stateToken": token]).expect(200)
        }
        try await world.freeze(at: World.exampleMoment + 898)
        let late = try await send(world, "", ["stateToken": token])
        late.refuses(401, "E0000011", "Invalid token provided", "state-token-invalid")
        expect(late.reason?.contains("ended at 2027-01-15T08:14:58.000Z"), is: true, "\(late.reason ?? "")")
    }

    @Test("a user with an expired password shows the factor first, then changes it, and is active")
    func expired() async throws {
        let world = try await World()
        try await world.act("set-status", ["user": "ada@example.test", "status": "PASSWORD_EXPIRED"])
        let token: JSON = .string(try await world.stateToken())
        let verified = try await send(
            world, "/factors/\(Example.totp)/verify", ["stateToken": token, "passCode": "309848"])
        expect(verified.json["status"], is: "PASSWORD_EXPIRED")
        let again = try await send(world, "/factors/\(Example.totp)/verify", ["stateToken": token, "passCode": "1"])
        expect(again.failure, is: "authn-state")
        let changed = try await send(
            world, "/credentials/change_password",
            ["stateToken": token, "oldPassword": "not-a-secret-1", "newPassword": "not-a-secret-6"])
        expect(changed.json["status"], is: "SUCCESS")
        expect(try await world.manage(.get, "/api/v1/users/\(Example.ada)").json["status"], is: "ACTIVE")
    }

    @Test("who is locked out answers the question and is active; without a question a password is set at once")
    func recoveries() async throws {
        let world = try await World()
        try await world.act("set-status", ["user": "ada@example.test", "status": "LOCKED_OUT"])
        let begun = try await world.manage("/api/v1/authn/recovery/unlock", #"{"username":"ada@example.test"}"#)
        let token = try #require(begun.json["recoveryToken"])
        let asked = try await send(world, "/recovery/token", ["recoveryToken": token])
        let state = try #require(asked.json["stateToken"])
        try await send(world, "/recovery/answer", ["stateToken": state, "answer": "not-a-secret-plane"]).expect(
            200, #"{"status":"SUCCESS","recoveryType":"UNLOCK"}"#)
        expect(try await world.manage(.get, "/api/v1/users/\(Example.ada)").json["status"], is: "ACTIVE")
        try await send(world, "/recovery/token", ["recoveryToken": token]).refuses(
            401, "E0000011", "Invalid token provided", "state-token-invalid")
        let link = try await world.manage("/api/v1/users/\(Example.cleo)/credentials/forgot_password?sendEmail=false")
        let address = try #require(link.json["resetPasswordUrl"]?.string)
        let own = JSON.string(String(address.split(separator: "/").last ?? ""))
        let reset = try await send(world, "/recovery/token", ["recoveryToken": own])
        expect(reset.json["status"], is: "PASSWORD_RESET")
        let done = try await send(
            world, "/credentials/reset_password",
            ["stateToken": try #require(reset.json["stateToken"]), "newPassword": "not-a-secret-6"])
        expect(done.json["status"], is: "SUCCESS")
    }
}
