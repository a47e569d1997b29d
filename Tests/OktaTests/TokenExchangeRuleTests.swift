import Emulation
import JSON
import Support
import Testing
import Tokens

@testable import Okta

@Suite("Okta's rules for tokens to exchange")
struct TokenExchangeRuleTests {
    private static let issuer = Example.base + "/oauth2/default"
    private static let now = World.exampleMoment
    private static let moment = Moment(unixSeconds: Double(now))

    private static let vendor = Result {
        try Okta(fixtures: VendorFixtures(store: Repository.fixtures, folder: "okta"))
    }

    private static func key(_ server: String) throws -> SigningKey {
        try #require(try vendor.get().keys(of: server, among: [:])).signing
    }

    /// A token of a server, changed before it is signed.
    private static func text(
        _ server: String, _ claims: JSONObject, _ change: (inout TokenDraft) -> Void
    ) throws -> String {
        let key = try key(server)
        var draft = TokenDraft(header: OktaTokenMaker.header(key), claims: claims)
        change(&draft)
        return try draft.mint(key: key, algorithm: .rs256)
    }

    // MARK: - Access tokens and ID tokens

    private static func access(_ change: (inout TokenDraft) -> Void = { _ in }) throws -> String {
        let claims: JSONObject = [
            "jti": "AT.1", "iss": .string(issuer), "uid": .string(Example.ada), "exp": JSON(now + 1),
        ]
        return try text("default", claims, change)
    }

    private static func subject(
        _ text: String, _ kind: OktaTokenKind = .access, _ change: (inout OktaSubject) -> Void = { _ in }
    ) throws -> OktaSubject {
        var subject = OktaSubject(
            kind: kind, token: CompactToken(text), moment: moment, trusted: [issuer],
            key: try key("default").verificationKey, status: .active)
        change(&subject)
        return subject
    }

    @Test("of access tokens hold and are broken")
    func subjects() throws {
        let sound = try Self.access()
        let id = try Self.access { $0.claims["jti"] = "ID.1" }
        var breaking: [String: OktaSubject] = try brokenForms(of: sound).reduce(into: [:]) { subjects, form in
            subjects["subject-" + form.key] = try Self.subject(form.value)
        }
        breaking["subject-critical"] = try Self.subject(Self.access { $0.header["crit"] = ["exp"] })
        breaking["subject-algorithm"] = try Self.subject(Self.access { $0.header["alg"] = "RS384" })
        breaking["subject-issuer"] = try Self.subject(Self.access { $0.claims["iss"] = .string(Example.base) })
        breaking["subject-signature"] = try Self.subject(sound) { $0.key = nil }
        breaking["subject-kind"] = try Self.subject(id)
        breaking["subject-expiry"] = try Self.subject(Self.access { $0.claims["exp"] = JSON(Self.now) })
        breaking["subject-revocation"] = try Self.subject(sound) { $0.isRevoked = true }
        breaking["subject-user"] = try Self.subject(sound) { $0.status = .suspended }
        expectExamples(of: OktaSubjectRules.access, holding: [try Self.subject(sound)], breaking: breaking)
        expectAgreement(of: OktaSubjectRules.access, on: [try Self.subject(sound) { $0.status = nil }])
    }

    @Test("of devices hold and are broken")
    func devices() throws {
        let secret = OktaDeviceSecret(id: "secret", sessionID: "session", expires: Self.moment + .seconds(1))
        func token(_ change: (inout TokenDraft) -> Void = { _ in }) throws -> String {
            try Self.access { draft in
                (draft.claims["jti"], draft.claims["sid"]) = ("ID.1", "session")
                (draft.claims["ds_hash"], draft.claims["exp"]) = (.string(secret.hash), JSON(Self.now - 1))
                change(&draft)
            }
        }
        func facts(_ text: String, _ change: (inout OktaSubject) -> Void = { _ in }) throws -> OktaSubject {
            try Self.subject(text, .id) { subject in
                subject.secret = secret
                change(&subject)
            }
        }
        var breaking: [String: OktaSubject] = try brokenForms(of: token()).reduce(into: [:]) { subjects, form in
            subjects["subject-" + form.key] = try facts(form.value)
        }
        breaking["subject-critical"] = try facts(token { $0.header["crit"] = ["exp"] })
        breaking["subject-algorithm"] = try facts(token { $0.header["alg"] = "RS384" })
        breaking["subject-issuer"] = try facts(token { $0.claims["iss"] = nil })
        breaking["subject-signature"] = try facts(token { $0.header["kid"] = nil }) { $0.key = nil }
        breaking["subject-kind"] = try facts(token { $0.claims["jti"] = "AT.1" })
        breaking["subject-session"] = try facts(token()) { $0.secret?.isEnded = true }
        breaking["subject-user"] = try facts(token()) { $0.status = nil }
        breaking["subject-device-secret"] = try facts(token { $0.claims["ds_hash"] = "x" })
        expectExamples(of: OktaSubjectRules.native, holding: [try facts(token())], breaking: breaking)
        expectAgreement(
            of: OktaSubjectRules.native,
            on: [
                try facts(token { $0.claims["sid"] = nil }), try facts(token()) { $0.secret?.expires = Self.moment },
                try facts(token()) { $0.secret = nil },
            ])
    }
}
