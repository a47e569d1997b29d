import JSON
import Testing
import Tokens

@testable import OktaValidator

@Suite("The signer")
struct SignerTests {
    private static let payload: JSONObject = [
        "tx": "tx-1", "iss": "opfunderstudyada0001", "sub": "00uunderstudyada0001", "aud": "localhost:8080",
        "iat": 1_800_000_000, "nbf": 1_799_999_940, "exp": 1_800_000_060, "jti": "j1",
    ]

    @Test("makes tokens that the validator takes")
    func signs() throws {
        let text = try OktaTokenSigner.sign(payload: Self.payload, algorithm: .rs256, key: TestKey.current)
        let token = CompactToken(text)
        #expect(token.header == ["kid": JSON(TestKey.current.id), "alg": "RS256"])
        #expect(token.claims == Self.payload)
        let options = OktaValidatorOptions(issuer: "opfunderstudyada0001", audience: "localhost:8080")
        let validator = OktaTokenValidator(options, keys: .rsa(TestKey.current.verificationKey))
        #expect(try validator.isValid(text))
    }

    @Test("names no key that has no name, and refuses an algorithm that the key cannot do")
    func limits() throws {
        var key = TestKey.current
        key.id = nil
        let text = try OktaTokenSigner.sign(payload: [:], key: key)
        #expect(CompactToken(text).header == ["alg": "RS256"])
        #expect(throws: MintError.self) { try OktaTokenSigner.sign(payload: [:], algorithm: .es256, key: key) }
    }
}
