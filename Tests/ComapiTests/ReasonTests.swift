import Expectations
import JSON
import Support
import Testing
import Tokens

extension Mistake {

    private static let profile = Example.path("/profiles/mira")

    static let all = secrets + wrapped + challenges + sessions + capitals + bodies

    private static let wrapped = [
        ("\"", "\"", "The token stands in quotes"), ("Bearer ", "", "“Bearer ” stands before the token"),
        ("", "\n", "White space follows the token"), ("'Bearer ", "'", "The token stands in quotes"),
    ].map { (before, after, words) in
        Mistake("a token within \(before)…\(after)", "malformed-token", says: words) { world in
            let challenge = try await world.challenge()
            let token = try Forged.token(claims: Forged.claims(nonce: challenge.json))
            return try await world.answer(challenge, before + token + after)
        }
    }

    private static let capitals = [
        Mistake("a space in capitals", "unknown-space", says: "did you mean “\(Example.a)”? Only capitals differ") {
            try await $0.call(.get, Example.path("/sessions/start", in: Example.a.uppercased()))
        },
        Mistake("a profile in capitals", "unknown-profile", says: "did you mean “mira”? Only capitals differ") {
            try await $0.call(.get, Example.path("/profiles/MIRA"), try await $0.session().fields)
        },
        Mistake("a conversation in capitals", "unknown-conversation", says: "“trip-42”? Only capitals differ") {
            try await $0.call(.get, Example.path("/conversations/TRIP-42"), try await $0.trip().mira.fields)
        },
        Mistake("a session in capitals", "unknown-session", says: "Only capitals differ") {
            let session = try await $0.session()
            return try await $0.call(.get, Example.path("/sessions/" + session.id.uppercased()), session.fields)
        },
        Mistake("a challenge in capitals", "unknown-authentication", says: "Did you mean", "Only capitals differ.") {
            world in
            let challenge = try await world.challenge()
            let token = try Forged.token(claims: Forged.claims(nonce: challenge.json))
            return try await world.answer(Challenge(id: challenge.id.uppercased(), nonce: challenge.nonce), token)
        },
    ]

    private static let secrets = [
        Mistake("a session's token for the app's own", "bad-signature", says: "token of a session", "app's own JWT") {
            let session = try await $0.session()
            return try await $0.answer(try await $0.challenge(), session.token)
        }
    ]

    private static let challenges = [
        Mistake("a nonce for an id", "unknown-authentication", says: "nonce of challenge") { world in
            let challenge = try await world.challenge()
            let token = try Forged.token(claims: Forged.claims(nonce: challenge.json))
            return try await world.answer(Challenge(id: challenge.nonce, nonce: challenge.nonce), token)
        },
        Mistake("a beginning in milliseconds far ahead", "not-yet-valid", says: "nbf looks like milliseconds") {
            world in
            try await world.answer { Forged.claims(nonce: $0.json, more: [("nbf", "1798861600000")]) }
        },
        Mistake("a space that is nearly right", "unknown-space", says: "did you mean “\(Example.a)”") {
            try await $0.call(.get, Example.path("/sessions/start", in: Example.a.replacing("b1f0", with: "b1f1")))
        },
    ]

    private static let sessions = [
        Mistake("the app's own JWT on a session's route", "session-forged", says: "the app's own JWT") { world in
            let token = try Forged.token(claims: Forged.claims(nonce: #""n""#))
            return try await world.call(.get, profile, [("authorization", "Bearer " + token)])
        },
        Mistake("another sandbox's token", "session-forged", says: "a session of sandbox", "a sandbox other than") {
            world in
            let session = try await World.comapi().session()
            return try await world.call(.get, profile, session.fields)
        },
        Mistake("a token in the query", "session-missing", says: "no Authorization header, but token in the query") {
            try await $0.call(.get, profile + "?token=" + (try await $0.session()).token)
        },
        Mistake("a token made with the shared secret", "session-forged", says: "shared secret of the API space") {
            world in
            let session = try await world.session()
            let parts = session.token.split(separator: ".")
            let token = try Forged.signed("\(parts[0]).\(parts[1])")
            return try await world.call(.get, profile, [("authorization", "Bearer " + token)])
        },
    ]

    private static let bodies = [
        Mistake("an empty authenticationToken", "missing-field", says: "authenticationToken is an empty string") {
            try await $0.call(
                .post, Example.path("/sessions"), [], #"{"authenticationId":"x","authenticationToken":""}"#)
        },
        Mistake("a null authenticationToken", "missing-field", says: "authenticationToken is null") {
            try await $0.call(
                .post, Example.path("/sessions"), [], #"{"authenticationId":"x","authenticationToken":null}"#)
        },
        Mistake("a status in milliseconds", "invalid-parameter", says: "timestamp looks like Unix milliseconds") {
            let (_, bob) = try await $0.trip()
            return try await $0.call(
                .post, Example.path("/conversations/trip-42/messages/statusupdates"), bob.fields,
                #"[{"messageIds":["x"],"status":"read","timestamp":1798761600000}]"#)
        },
        Mistake("a page too long", "invalid-parameter", says: "limit is “1001”", "from 1 to 1000") {
            let (_, bob) = try await $0.trip()
            return try await $0.call(.get, Example.path("/conversations/trip-42/messages?limit=1001"), bob.fields)
        },
    ]
}

@Suite("Comapi's reasons") struct ReasonTests {
    @Test("the reason names the cause", arguments: Mistake.all) func reasons(_ mistake: Mistake) async throws {
        let answer = try await mistake.send(try await World.comapi())
        expect(answer.failure, is: mistake.failure, "\(answer.text)")
        let reason = answer.entry?.explanation ?? ""
        for words in mistake.phrases { #expect(reason.lowercased().contains(words.lowercased()), "\(reason)") }
        #expect(!reason.contains(Example.secretA))
    }

    @Test("an upload that says it is JSON and is not leaves a note", arguments: ["{", "[]", #"{"data":"aGk="}"#])
    func uploads(_ body: String) async throws {
        let world = try await World.comapi()
        let session = try await world.session()
        let answer = try await world.call(
            .post, Example.path("/content"), session.fields + [("content-type", "application/json")], body)
        answer.expect(200)
        expect(answer.json["size"], is: JSON(body.utf8.count))
        #expect(answer.isNoted("unreadable-json"), "\(answer.findings)")
        let good = try await world.call(
            .post, Example.path("/content"), session.fields + [("content-type", "application/json")],
            #"{"data":"aGk=","type":"text/plain"}"#)
        good.expect(200)
        #expect(!good.isNoted("unreadable-json"))
    }
}
