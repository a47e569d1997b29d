import Emulation
import JSON
import Support
import Testing
import Tokens
import Wire

@testable import Okta

@Suite("Okta's rules for callers of the management API and for devices")
struct DeviceRuleTests {
    private static let vendor = Result {
        try Okta(fixtures: VendorFixtures(store: Repository.fixtures, folder: "okta"))
    }

    private static func facts(
        presented: String?, _ switches: [String: String] = [:], _ change: (inout OktaDeviceFacts) -> Void = { _ in }
    ) throws -> OktaDeviceFacts {
        let vendor = try vendor.get()
        let lines = presented.map { [("authorization", $0)] } ?? []
        var facts = OktaDeviceFacts(
            OktaSSWS(FieldLines(lines)), vendor.accounts, OktaSwitches(SwitchValues(switches)),
            at: Moment(unixSeconds: Double(World.exampleMoment)))
        facts.path = .init(user: Example.ada, factor: Example.push, transaction: "tx-1")
        facts.factor = vendor.initialState.factor(Example.push, of: Example.ada)
        facts.key = DeviceAnswer.pk1.verificationKey
        facts.audiences = ["localhost:8080", "localhost", Example.base]
        facts.transaction = OktaTransaction(
            number: 1, factorID: Example.push, userID: Example.ada, created: facts.moment)
        change(&facts)
        return facts
    }

    private static func facts(
        _ switches: [String: String] = [:], _ change: (inout DeviceAnswer) -> Void = { _ in }
    ) throws -> OktaDeviceFacts {
        try facts(presented: "SSWS " + DeviceAnswer().changed(change).text, switches)
    }

    /// A sound token in another state.
    private static func facts(state: (inout OktaDeviceFacts) -> Void) throws -> OktaDeviceFacts {
        try facts(presented: "SSWS " + DeviceAnswer().text, [:], state)
    }

    @Test("of the form hold and are broken")
    func form() throws {
        let sound = try DeviceAnswer().text
        var breaking: [String: OktaDeviceFacts] = try brokenForms(of: sound).reduce(into: [:]) { facts, form in
            facts["ssws-" + form.key] = try Self.facts(presented: "SSWS " + form.value)
        }
        breaking["ssws-present"] = try Self.facts(presented: "Bearer " + sound)
        breaking["ssws-type"] = try Self.facts { $0.header["typ"] = "a+jwt" }
        breaking["ssws-critical"] = try Self.facts { $0.header["crit"] = ["exp"] }
        breaking["ssws-algorithm"] = try Self.facts { $0.header["alg"] = "ES256" }
        breaking["ssws-key-references"] = try Self.facts { $0.header["jku"] = "https://a.test" }
        let devices = ["ssws-profile": "devices"]
        expectExamples(
            of: Okta.deviceFormRules,
            holding: [
                try Self.facts(), try Self.facts { $0.header["typ"] = "JWT" },
                try Self.facts(devices) { $0.header = ["typ": "a+jwt", "alg": "ES256"] },
            ], breaking: breaking)
        let apiToken = try Self.facts(presented: "SSWS " + World.apiToken)
        #expect(Okta.deviceFormRules.findings(on: apiToken).contains { $0.note?.contains("API token") == true })
    }

    @Test("of the token hold and are broken")
    func token() throws {
        let now = World.exampleMoment
        var breaking: [String: OktaDeviceFacts] = [
            "ssws-factor": try Self.facts { $0.claims["iss"] = nil },
            "ssws-signature": try Self.facts { $0.key = DeviceAnswer.key("ck1") },
            "ssws-claim-jti": try Self.facts { $0.claims["jti"] = .string(String(repeating: "a", count: 256)) },
            "ssws-subject": try Self.facts { $0.claims["sub"] = .string(Example.ben) },
            "ssws-audience": try Self.facts { $0.claims["aud"] = ["localhost"] },
            "ssws-expiry": try Self.facts { $0.claims["exp"] = JSON(now) },
            "ssws-not-before": try Self.facts { $0.claims["nbf"] = JSON(now + 1) },
            "ssws-issued-at": try Self.facts { $0.claims["iat"] = JSON(now + 61) },
            "ssws-lifetime": try Self.facts { $0.claims["exp"] = JSON(now + 62) },
            "ssws-jti-unused": try Self.facts(state: { $0.isUsed = true }),
            "ssws-transaction": try Self.facts { $0.claims["tx"] = "tx-2" },
            "ssws-transaction-open": try Self.facts(state: { $0.transaction?.answer = .deny }),
        ]
        for name in ["tx", "sub", "aud", "iat", "nbf", "exp"] {
            breaking["ssws-claim-\(name)"] = try Self.facts { $0.claims[name] = true }
        }
        expectExamples(
            of: Okta.deviceRules,
            holding: [
                try Self.facts(), try Self.facts { $0.claims["exp"] = JSON(now + 61) },
                try Self.facts { $0.claims["iat"] = JSON(now + 60) },
                try Self.facts(["ssws-profile": "devices"]) { $0.claims["exp"] = JSON(now + 300) },
            ], breaking: breaking)
        expectAgreement(
            of: Okta.deviceRules,
            on: [
                try Self.facts(presented: nil), try Self.facts(presented: "SSWS x"),
                try Self.facts(state: { ($0.factor, $0.key) = (nil, nil) }),
                try Self.facts(state: { $0.factor?.status = .pendingActivation }),
                try Self.facts(state: { $0.key = nil }), try Self.facts(state: { $0.transaction = nil }),
            ])
    }

    @Test("of the API token hold and are broken")
    func apiToken() throws {
        let accounts = try Self.vendor.get().accounts
        func facts(_ value: String) -> OktaAPIFacts {
            OktaAPIFacts(OktaSSWS(["authorization": value]), accounts)
        }
        expectExamples(
            of: Okta.apiRules, holding: [facts("SSWS " + World.apiToken)], breaking: ["api-token": facts("SSWS x")])
        let scope = OktaScopeFacts(scopes: ["a", "b"], required: "b")
        expectExamples(
            of: Okta.apiScopeRules, holding: [scope],
            breaking: ["api-scope": OktaScopeFacts(scopes: [], required: "b")])
        #expect(Okta.apiAccessRules.rules.count == OktaTokenRules.access.rules.count)
        #expect(Okta.apiAccessRules.rules.allSatisfy { $0.failures.isEmpty || $0.failures == [.apiTokenInvalid] })
    }
}
