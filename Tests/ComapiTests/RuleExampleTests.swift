import Emulation
import JSON
import Support
import Testing
import Tokens
import Wire

@testable import Comapi

@Suite("Comapi's rules")
struct RuleExampleTests {
    private static let moment = Moment(unixSeconds: Double(Example.moment))
    private static let sandbox = SandboxIdentity(name: "s", start: "start")
    private static let vendor = Result {
        try Comapi(fixtures: VendorFixtures(store: Repository.fixtures, folder: "comapi"))
    }

    private static func space(_ id: String = Example.a) throws -> ComapiSpace {
        try #require(try vendor.get().accounts.space(id))
    }

    // MARK: Sessions

    private static let sessionClaims: JSONObject = [
        "apiSpaceId": .string(Example.a), "iat": JSON(Example.moment), "exp": JSON(Example.moment + 60), "sub": "mira",
        "jti": "s-1", "boot": "start",
    ]

    private static func sessionToken(_ name: String? = nil, _ value: JSON? = nil) throws -> String {
        var claims = sessionClaims
        if let name { claims[name] = value }
        let draft = TokenDraft(header: ["alg": "HS256", "typ": "JWT"], claims: claims)
        return try draft.sessionToken(by: try vendor.get().sessionKeys.key(of: space(), in: sandbox))
    }

    /// A call with a session token.
    private static func call(
        _ text: String? = nil, _ switches: [String: String] = [:],
        _ change: (inout ComapiSessionFacts) -> Void = { _ in }
    ) throws -> ComapiSessionFacts {
        var facts = ComapiSessionFacts(
            try vendor.get(), ComapiSwitches(SwitchValues(switches)), in: sandbox, at: moment)
        let text = try text ?? sessionToken()
        facts.bearer = BearerToken(["authorization": "Bearer \(text)"])
        (facts.spaceID, facts.needsToken) = (Example.a, true)
        facts.take(ComapiSessionToken(text), of: try space())
        change(&facts)
        return facts
    }

    private static func changed(_ name: String, _ value: JSON? = nil) throws -> ComapiSessionFacts {
        try call(sessionToken(name, value))
    }

    @Test("of calls hold and are broken")
    func calls() throws {
        let sound = try Self.sessionToken()
        expectExamples(
            of: Comapi.callRules, holding: [try Self.call()],
            breaking: try brokenForms(of: sound).mapValues { try Self.call($0) }.merging([
                "encoded-question-mark": try Self.call(nil, ["accepts-encoded-query": "off"]) {
                    $0.hasEncodedQuery = true
                },
                "space": try Self.call { $0.space = nil },
                "session-present": try Self.call { ($0.token, $0.bearer) = (nil, BearerToken([:])) },
                "authorization-lines": try Self.call {
                    $0.bearer = BearerToken(["authorization": "Bearer a", "Authorization": "Bearer b"])
                },
                "bearer-once": try Self.call { $0.bearer = BearerToken(["authorization": "Bearer Bearer a"]) },
                "session-space": try Self.changed("apiSpaceId", .string(Example.b)),
                "algorithm": try Self.call(Forged.token(header: #"{"alg":"HS512"}"#, claims: "{}")),
                "signature": try Self.call(sound + "A"), "claim-apiSpaceId-present": try Self.changed("apiSpaceId"),
                "claim-sub-present": try Self.changed("sub"), "claim-jti-present": try Self.changed("jti"),
                "claim-boot-present": try Self.changed("boot"), "claim-exp-present": try Self.changed("exp"),
                "expiry": try Self.changed("exp", JSON(Example.moment)),
            ]) { $1 })
    }

    @Test("of sessions hold and are broken")
    func sessions() throws {
        func standing(_ expires: Moment?, isEnded: Bool = false) throws -> ComapiSessionFacts {
            try Self.call {
                $0.standing = ComapiSessionFacts.Standing(
                    id: "s-1", expires: expires, holder: nil, isEnded: isEnded, isAdoptable: false, adoptsEarlier: true)
            }
        }
        expectExamples(
            of: Comapi.sessionRules, holding: [try standing(Self.moment + .seconds(1))],
            breaking: [
                "session-in-time": try standing(Self.moment), "session-open": try standing(nil, isEnded: true),
                "session-known": try standing(nil),
            ])
    }

    // MARK: The app's own token

    private static let challenge = ComapiChallenge(
        id: "c-1", space: ComapiID(Example.a), nonce: "n-1", issued: moment, expires: moment + .seconds(60))

    /// The answer to a challenge.
    private static func answer(
        _ text: String, _ switches: [String: String] = [:], to known: ComapiChallenge? = challenge
    ) throws -> ComapiAppFacts {
        let space = try space()
        var facts = ComapiAppFacts(
            ComapiAppToken(text, of: space), of: space, among: try vendor.get().accounts.spaces,
            ComapiSwitches(SwitchValues(switches)), at: moment)
        facts.challenge = ComapiAppFacts.Challenge(id: "c-1", known: known, strangeness: nil)
        facts.expectedNonce = known?.nonce
        return facts
    }

    private static func claims(_ claims: String, _ switches: [String: String] = [:]) throws -> ComapiAppFacts {
        try answer(Forged.token(claims: claims), switches)
    }

    private static func header(_ header: String) throws -> ComapiAppFacts {
        try answer(Forged.token(header: header, claims: Forged.claims(nonce: #""n-1""#)))
    }

    /// An otherwise valid answer with one claim changed.
    private static func more(_ name: String, _ value: String) throws -> ComapiAppFacts {
        try claims(Forged.claims(nonce: #""n-1""#, more: [(name, value)]))
    }

    @Test("of the app's own token hold and are broken")
    func app() throws {
        let (nonce, strict) = (#""n-1""#, ["requires-time-claims": "on"])
        let sound = try Forged.token(claims: Forged.claims(nonce: nonce))
        var answered = Self.challenge
        answered.answeredBy = "s-1"
        let late = ComapiChallenge(
            id: "c-1", space: ComapiID(Example.a), nonce: "n-1", issued: Self.moment,
            expires: Self.moment + .seconds(-1))
        var absent = try Self.answer(sound)
        absent.token = nil
        var alone = try Self.claims("{}")
        alone.challenge = nil
        var explained = try Self.answer(sound)
        explained.challenge = nil
        expectExamples(
            of: Comapi.appRules, holding: [try Self.answer(sound), explained, try Self.more("nbf", "1798761600")],
            breaking: try brokenForms(of: sound).mapValues { try Self.answer($0) }.merging([
                "challenge-known": try Self.answer(sound, to: nil),
                "challenge-unanswered": try Self.answer(sound, to: answered),
                "challenge-in-time": try Self.answer(sound, to: late),
                "critical": try Self.header(#"{"alg":"HS256","crit":[]}"#),
                "algorithm": try Self.header(#"{"alg":"HS512"}"#), "type": try Self.answer("a.b.c"),
                "unusual-typ": try Self.header(#"{"alg":"HS256","typ":"X"}"#),
                "signature": try Self.answer(sound + "A"),
                "secret-mistake": try Self.answer(
                    Forged.token(secret: Example.secretA + "\n", claims: Forged.claims(nonce: nonce))),
                "claim-nonce-present": try Self.claims("{}"), "nonce-explained": alone,
                "nonce": try Self.claims(Forged.claims(nonce: #""n-2""#)), "claim-iss-present": try Self.claims("{}"),
                "issuer": try Self.claims(Forged.claims(nonce: nonce, issuer: #""other""#)),
                "claim-aud-present": try Self.claims("{}"),
                "audience": try Self.claims(Forged.claims(nonce: nonce, audience: #""other""#)),
                "audience-array": try Self.claims(
                    Forged.claims(nonce: nonce, audience: #"["https://api.comapi.com"]"#)),
                "user-id": try Self.claims(Forged.claims(nonce: nonce, user: nil)),
                "shared-user-id": try Self.claims(Forged.claims(nonce: nonce, user: #""sub""#)),
                "claim-exp-present": try Self.claims("{}", strict), "claim-iat-present": try Self.claims("{}", strict),
                "exp-number": try Self.claims(#"{"exp":"1"}"#), "iat-number": try Self.claims(#"{"iat":"1"}"#),
                "nbf-number": try Self.more("nbf", #""1""#),
                "milliseconds-exp": try Self.claims(
                    #"{"exp":1798848000000}"#, ["accepts-millisecond-times": "off"]),
                "milliseconds-iat": try Self.claims(
                    #"{"iat":1798761600000}"#, ["accepts-millisecond-times": "off"]),
                "milliseconds-nbf": try Self.more("nbf", "1798761600000"),
                "expiry": try Self.claims(#"{"exp":1798761000}"#), "not-before": try Self.more("nbf", "1898761600"),
                "iat-ahead": try Self.claims(#"{"iat":1898761600}"#),
                "long-lived-token": try Self.claims(#"{"exp":1898761600}"#),
            ]) { $1 }.merging(["token": absent]) { $1 })
    }
}
