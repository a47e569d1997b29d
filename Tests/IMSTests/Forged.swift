import Foundation
import JSON
import Support
import Tokens

/// A token with freely chosen parts, made without the minting call, so that a fault in one cannot hide in the other.
struct Forged {
    /// The issuers of the example world: `iss`, the number of the key, its `kid`.
    enum Issuer: String {
        case uat = "https://auth.example.test/uat"
        case legacy = "https://auth.example.test/prod"
        case rotating = "https://login.example.test"
        case firebase = "https://securetoken.google.com/understudy-demo"
        case cognito = "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_Test00001"
        case stranger = "https://auth.other.test"

        fileprivate var key: Int {
            switch self {
            case .uat, .legacy: 1
            case .rotating: 2
            case .firebase: 3
            case .cognito: 4
            case .stranger: 9
            }
        }

        fileprivate var keyID: String? {
            switch self {
            case .uat, .legacy, .stranger: nil
            case .rotating: "k2"
            case .firebase: "k3"
            case .cognito: "k4"
            }
        }
    }

    private static let keys = (1...9).map { number in
        Result { try SigningKey.pem(String(contentsOfFile: path(number), encoding: .utf8)) }
    }

    private static func path(_ number: Int) -> String { "\(Repository.root)/Fixtures/ims/keys/k\(number).pem" }

    /// The key `K1` to `K9` of the example world.
    static func key(_ number: Int) throws -> SigningKey { try keys[number - 1].get() }

    /// The public key in PEM.
    static func pem(_ number: Int) throws -> String { try key(number).publicPEM ?? "" }

    var header: JSONObject = ["alg": "RS256", "typ": "JWT"]
    var claims: JSONObject
    var key: Int

    /// The token `T(issuer, …)` of the vendor's spec: each listed claim is set, or omitted where it is `nil`.
    init(_ issuer: Issuer = .uat, at moment: Int = World.exampleMoment, _ changes: [(String, JSON?)] = []) {
        key = issuer.key
        header["kid"] = issuer.keyID.map(JSON.string)
        claims = [
            "iss": .string(issuer.rawValue), "sub": "EMP-0001", "iat": JSON(moment), "exp": JSON(moment + 600),
        ]
        for (name, value) in changes { claims[name] = value }
    }

    /// Sets a member of the header, or removes it.
    func header(_ name: String, _ value: JSON?) -> Forged {
        var token = self
        token.header[name] = value
        return token
    }

    /// Signed with another key.
    func signed(by key: Int) -> Forged {
        var token = self
        token.key = key
        return token
    }

    /// Header and payload in the form that is signed.
    var input: String {
        Base64URL.encode(JSON.object(header).bytes) + "." + Base64URL.encode(JSON.object(claims).bytes)
    }

    /// The token, signed with RS256 whatever its header says.
    func text() throws -> String { try Self.signed(input, by: key) }

    /// Any text followed by its signature.
    static func signed(_ input: String, by key: Int, _ algorithm: Algorithm = .rs256) throws -> String {
        input + "." + Base64URL.encode(try Self.key(key).sign(Array(input.utf8), algorithm: algorithm))
    }
}
