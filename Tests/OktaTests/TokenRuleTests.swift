import Emulation
import Expectations
import Support
import Testing
import Tokens

@testable import Okta

@Suite("Okta's rules for tokens") struct TokenRuleTests {
    private static let vendor = Result {
        try Okta(fixtures: VendorFixtures(store: Repository.fixtures, folder: "okta"))
    }

    @Test("find the same whether a token was seen before or not, and judge each key anew") func memory() throws {
        let own = try #require(try Self.vendor.get().keys(of: "default", among: [:]))
        let draft = TokenDraft(header: OktaTokenMaker.header(own.signing), claims: ["jti": "AT.1"])
        let token = OktaToken(bytes: Array(try draft.mint(key: own.signing, algorithm: .rs256).utf8))
        let keys = own.published.map(\.key)
        for _ in 0..<2 {
            var nothing: Finding?
            expect(keys.map { token.signature(by: $0, &nothing) }, is: [.passed, .failed])
        }
    }

    @Test("an issuer is compared without slashes, prefixes or other servers counting") func issuers() throws {
        let accounts = try Self.vendor.get().accounts
        let (org, custom) = (try #require(accounts.server("org")), try #require(accounts.server("default")))
        let base = Example.base
        #expect(org.isIssuer(base, at: base) && custom.isIssuer(base + "/oauth2/default", at: base))
        for other in ["", base + "/", base + "/oauth2/default/", base + "/oauth2/defaul", "http://localhost:808"] {
            #expect(!org.isIssuer(other, at: base) && !custom.isIssuer(other, at: base), "\(other)")
        }
        #expect(!org.isIssuer(base + "/oauth2/default", at: base) && !custom.isIssuer(base, at: base))
    }
}
