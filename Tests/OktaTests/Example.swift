import Foundation
import Support

/// The names of Okta's example world, as in the fixtures.
enum Example {
    static let base = "http://localhost:8080"
    /// The endpoints of the custom server.
    static let custom = "/oauth2/default/v1"
    /// The endpoints of the organization's own server.
    static let org = "/oauth2/v1"

    static let native = "0oaunderstudynative1"
    static let web = "0oaunderstudyweb0001"
    static let service = "0oaunderstudysvc0001"
    static let bank = "0oaunderstudybank001"
    static let tv = "0oaunderstudytv00001"
    static let spa = "0oaunderstudyspa0001"
    static let direct = "0oaunderstudydirect1"
    static let api = "0oaunderstudyapi0001"
    static let ops = "0oaunderstudyops0001"

    static let ada = "00uunderstudyada0001"
    static let ben = "00uunderstudyben0001"
    static let cleo = "00uunderstudycleo001"
    static let push = "opfunderstudyada0001"

    static let callback = "com.example.app:/callback"
    static let apiToken = "00understudy-api-token-not-a-secret"
    static let webSecret = "web-secret-not-real-0123456789abcdef"
    static let serviceSecret = "svc-secret-not-real-0123456789abcdef"
    static let apiSecret = "api-secret-not-real-0123456789abcdef"
    static let totp = "ostunderstudyada0001"

    private static let unreserved = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~*"))

    /// Parameters in an address, as forms write them.
    static func redirected(_ items: Parameters) -> String {
        items.map { name, value in
            name + "=" + (value.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "")
        }.joined(separator: "&").replacing("%20", with: "+")
    }

    /// The pair of RFC 7636 appendix B.
    static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
}
