import Foundation
import JSON
import Support
import Tokens

/// A DPoP proof as clients make them; tests change what they break.
struct Proof: Sendable {
    static let dk1 = key("dk1")
    static let dk2 = key("dk2")
    /// The key with which the fixtures' clients sign assertions, an RSA key.
    static let ck1 = key("ck1")

    var key: SigningKey
    var algorithm = Algorithm.es256
    var header: JSONObject
    var claims: JSONObject

    /// A proof of now for a request.
    ///
    /// - Parameter path: below the base of the examples.
    init(
        _ method: String = "POST", _ path: String = Example.custom + "/token", by key: SigningKey = dk1,
        nonce: String? = nil, token: String? = nil, id: String = UUID().uuidString,
        at moment: Int = World.exampleMoment
    ) {
        self.key = key
        let jwk = key.publicJWK()?.object.map { JSONObject($0.filter { $0.name != "use" }.map { ($0.name, $0.value) }) }
        header = ["typ": "dpop+jwt", "alg": "ES256", "jwk": .object(jwk ?? [:])]
        claims = [
            "jti": .string(id), "htm": .string(method), "htu": .string(Example.base + path), "iat": JSON(moment),
        ]
        if let nonce { claims["nonce"] = .string(nonce) }
        if let token { claims["ath"] = .string(Proof.hash(of: token)) }
    }

    /// The same with another key type.
    func signed(by key: SigningKey, _ algorithm: Algorithm) -> Proof {
        var proof = self
        (proof.key, proof.algorithm) = (key, algorithm)
        proof.header["alg"] = .string(algorithm.rawValue)
        proof.header["jwk"] = key.publicJWK()
        return proof
    }

    func changed(_ change: (inout Proof) -> Void) -> Proof {
        var proof = self
        change(&proof)
        return proof
    }

    var text: String {
        get throws { try TokenDraft(header: header, claims: claims).mint(key: key, algorithm: algorithm) }
    }

    static func hash(of token: String) -> String { Base64URL.encode(Digest.sha256(Array(token.utf8))) }

    private static func key(_ name: String) -> SigningKey {
        let path = Repository.root + "/Fixtures/okta/keys/\(name).pem"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8), let key = try? SigningKey.pem(text) else {
            preconditionFailure("no key at \(path)")
        }
        return key
    }
}
