import Emulation
import Foundation
import JSON
import Support
import Testing
import Tokens
import Understudy

/// Requests of the tests about further grants.
extension World {
    /// Sends a form.
    func submit(_ form: String, to path: String, _ fields: Fields = []) async throws -> ReceivedAnswer {
        try await call(.post, path, [("content-type", "application/x-www-form-urlencoded")] + fields, form)
    }

    /// Sends a form to a token endpoint.
    func token(
        _ form: String, _ fields: Fields = [], at endpoints: String = Example.custom
    ) async throws -> ReceivedAnswer {
        try await submit(form, to: endpoints + "/token", fields)
    }

    /// Performs an action.
    @discardableResult
    func perform(_ action: String, _ members: JSONObject = [:]) async throws -> ReceivedAnswer {
        try await control(.post, "state/okta/" + action, JSON.object(members).text)
    }

    /// The answer to the redeemed code of the client `native`, which signs Ada in.
    func signIn(_ scope: String = "openid profile offline_access") async throws -> ReceivedAnswer {
        let client = AppClient.native(self)
        let answer = try await client.redeem(try await client.code(scope))
        answer.expect(200)
        return answer
    }

    /// A world on a server of its own, which can be restarted.
    static func restartable() async throws -> World {
        try await World(on: Stage(Emulator(fixtures: Repository.fixtures, loaders: Catalog.vendors)))
    }

    /// The same world after its server was restarted with a state file, which holds what was there before.
    func restarted() throws -> World {
        let next = try stage.restarted()
        #expect(next.emulator.exportState()["sandboxes"] == stage.emulator.exportState()["sandboxes"])
        return moved(to: next)
    }
}

extension ReceivedAnswer {
    /// The text of a member of the content.
    func text(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        try #require(json[name]?.string, "\(text)", sourceLocation: sourceLocation)
    }

    /// The claims of a token in the content, none of them trusted.
    func claims(of token: String) -> JSONObject { json[token]?.string.flatMap { CompactToken($0).claims } ?? [:] }

    /// Why the request was refused, as the journal says.
    var reason: String? { entry?.explanation }
}
