import JSON
import Testing
import Tokens

/// Tokens given byte by byte, with the keys they were made with; all invented test data.
@Suite("Tokens of an example world")
struct ExampleWorldTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let name: String
        let secret: String
        let header: JSONObject
        let claims: JSONObject
        let token: String

        var testDescription: String { name }
    }

    @Test("verify with their key and with no other", arguments: examples)
    func verify(_ example: Example) throws {
        let token = CompactToken(example.token)
        let key = try VerificationKey.secret(example.secret)
        #expect(token.structure.allSatisfy { $0.outcome == .passed })
        #expect(token.algorithm(is: .hs512).outcome == .passed)
        #expect(token.signature(by: key, algorithm: .hs512).outcome == .passed)
        #expect(token.header == example.header)
        #expect(token.claims == example.claims)
        let other = try VerificationKey.secret(example.secret + "x")
        #expect(token.signature(by: other, algorithm: .hs512).outcome == .failed)
        #expect(token.signature(by: key, algorithm: .hs256).outcome == .failed)
    }

    @Test("are minted again byte for byte", arguments: examples)
    func mint(_ example: Example) throws {
        let draft = TokenDraft(header: example.header, claims: example.claims)
        #expect(try draft.mint(key: .secret(example.secret), algorithm: .hs512) == example.token)
    }

    @Test("have the fractional expiry that the defect makes")
    func fractionalExpiry() throws {
        let ada = Self.examples[1]
        let draft = TokenDraft(header: ada.header, claims: ada.claims)
        let token = try draft.mint(key: .secret(ada.secret), algorithm: .hs512, defect: .fractionalExpiry)
        #expect(token == Self.examples[4].token)
    }

    static let secret = "understudy-test-key-not-a-secret-0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNO=="
    static let device: JSON = "wlkCDA2Hy/CfMqVAShslBAR/0sAiuRIUm5jOg0a"

    static func claims(_ user: String, _ expiry: JSON) -> JSONObject {
        ["rezolve_entity_id": "entity123", "partner_entity_id": .string(user), "exp": expiry, "device_id": device]
    }

    static let examples: [Example] = [
        Example(
            name: "REG-NEW", secret: secret, header: ["alg": "HS512", "typ": "JWT"],
            claims: ["rezolve_entity_id": ":NONE:", "partner_entity_id": "user-2001", "exp": 1_800_001_800],
            token: "eyJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.eyJyZXpvbHZlX2VudGl0eV9pZCI6IjpOT05FOiIsInBhcnRuZXJ"
                + "fZW50aXR5X2lkIjoidXNlci0yMDAxIiwiZXhwIjoxODAwMDAxODAwfQ.lK0wcDetu824iUXszQ3hfUsvgFYvaMH_"
                + "PTePhNIruzhm8RSPHSmXxoozevLvGq06yAZ-aGaCm6q8_gaKwhDeEQ"),
        Example(
            name: "JWT-ADA", secret: secret, header: ["auth": "v2", "alg": "HS512", "typ": "JWT"],
            claims: claims("user-1001", 1_800_001_800),
            token: "eyJhdXRoIjoidjIiLCJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.eyJyZXpvbHZlX2VudGl0eV9pZCI6ImVudGl"
                + "0eTEyMyIsInBhcnRuZXJfZW50aXR5X2lkIjoidXNlci0xMDAxIiwiZXhwIjoxODAwMDAxODAwLCJkZXZpY2VfaWQ"
                + "iOiJ3bGtDREEySHkvQ2ZNcVZBU2hzbEJBUi8wc0FpdVJJVW01ak9nMGEifQ.zFuj3X0RjSH-JWz72sHSJVhdFtcK"
                + "UwYV3Jk1jvNGnD-k44d7Q8Ww9snj1zi_JkaK9nTGpjY7AcWUttT-nIc0iQ"),
        Example(
            name: "JWT-ADA-OLD", secret: secret, header: ["auth": "v2", "alg": "HS512", "typ": "JWT"],
            claims: claims("user-1001", 1_799_999_999),
            token: "eyJhdXRoIjoidjIiLCJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.eyJyZXpvbHZlX2VudGl0eV9pZCI6ImVudGl"
                + "0eTEyMyIsInBhcnRuZXJfZW50aXR5X2lkIjoidXNlci0xMDAxIiwiZXhwIjoxNzk5OTk5OTk5LCJkZXZpY2VfaWQ"
                + "iOiJ3bGtDREEySHkvQ2ZNcVZBU2hzbEJBUi8wc0FpdVJJVW01ak9nMGEifQ.qtpIFr9gRBadbxpFd5A6bX7JJcpy"
                + "rYlbPbfurkJ3s7OfTYYLfxh0IS5_E5Opn3BvGD_grohJBtiBfZctv5Udqw"),
        Example(
            name: "JWT-V2BUG", secret: secret, header: ["v2": "v2", "alg": "HS512", "typ": "JWT"],
            claims: claims("317", 1_800_001_800),
            token: "eyJ2MiI6InYyIiwiYWxnIjoiSFM1MTIiLCJ0eXAiOiJKV1QifQ.eyJyZXpvbHZlX2VudGl0eV9pZCI6ImVudGl0e"
                + "TEyMyIsInBhcnRuZXJfZW50aXR5X2lkIjoiMzE3IiwiZXhwIjoxODAwMDAxODAwLCJkZXZpY2VfaWQiOiJ3bGtDR"
                + "EEySHkvQ2ZNcVZBU2hzbEJBUi8wc0FpdVJJVW01ak9nMGEifQ.TP0xJyOoMMzEidoIsXZZUkZK6rvijzvTjegVw0"
                + "9Uw8UiVGqF6qsVmoMgVAVQYRxA28vI5rSzuxPMsfvUehFy0A"),
        Example(
            name: "JWT-FLOAT", secret: secret, header: ["auth": "v2", "alg": "HS512", "typ": "JWT"],
            claims: claims("user-1001", 1_800_001_799.25),
            token: "eyJhdXRoIjoidjIiLCJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.eyJyZXpvbHZlX2VudGl0eV9pZCI6ImVudGl"
                + "0eTEyMyIsInBhcnRuZXJfZW50aXR5X2lkIjoidXNlci0xMDAxIiwiZXhwIjoxODAwMDAxNzk5LjI1LCJkZXZpY2V"
                + "faWQiOiJ3bGtDREEySHkvQ2ZNcVZBU2hzbEJBUi8wc0FpdVJJVW01ak9nMGEifQ.jXdreSiEasB6w3A9hgncPV72"
                + "bzqQa7qAE-y1qCy-YTrc86MpP9pVmbOEeJBWD-7-oUpf7aPbyJPDX2kAKH-oIg"),
        Example(
            name: "PAGE-JWT", secret: "secret", header: ["alg": "HS512", "typ": "JWT"],
            claims: ["rezolve_entity_id": ":NONE:", "partner_entity_id": "123", "exp": 1_520_869_470],
            token: "eyJhbGciOiJIUzUxMiIsInR5cCI6IkpXVCJ9.eyJyZXpvbHZlX2VudGl0eV9pZCI6IjpOT05FOiIsInBhcnRuZXJ"
                + "fZW50aXR5X2lkIjoiMTIzIiwiZXhwIjoxNTIwODY5NDcwfQ.5y2e6QpUKcqTNLTv75nO6a6iFPVxrF8YeAH5NTg2"
                + "ZO9dkub31GEs0N46Hu2IJf1bQ_vC2IOO9Z2N7drmvA_AKg"),
    ]
}
