import JSON
import Testing

@testable import Tokens

@Suite("Vectors of the RFCs")
struct PublishedVectorTests {
    @Test("verify", arguments: PublishedVector.allCases)
    func verify(_ vector: PublishedVector) throws {
        let key = try VerificationKey.jwk(vector.jwk(), acceptsPrivate: true)
        let token = CompactToken(vector.token)
        #expect(token.isWellFormed)
        #expect(token.algorithm(is: vector.algorithm).outcome == .passed)
        #expect(token.signature(by: key, algorithm: vector.algorithm).outcome == .passed)
    }

    @Test("do not verify with another algorithm", arguments: PublishedVector.allCases)
    func otherAlgorithm(_ vector: PublishedVector) throws {
        let key = try VerificationKey.jwk(vector.jwk(), acceptsPrivate: true)
        let token = CompactToken(vector.token)
        for algorithm in Algorithm.allCases where algorithm != vector.algorithm {
            #expect(token.algorithm(is: algorithm).outcome == .failed)
            #expect(token.signature(by: key, algorithm: algorithm).outcome == .failed)
        }
    }

    @Test("do not verify with the key of another vector", arguments: PublishedVector.allCases)
    func otherKey(_ vector: PublishedVector) throws {
        let token = CompactToken(vector.token)
        let own = try VerificationKey.jwk(vector.jwk(), acceptsPrivate: true)
        for other in PublishedVector.allCases {
            let key = try VerificationKey.jwk(other.jwk(), acceptsPrivate: true)
            guard try other.jwk()["n"] != vector.jwk()["n"] || key.thumbprint != own.thumbprint else { continue }
            if other == vector { continue }
            #expect(token.signature(by: key, algorithm: vector.algorithm).outcome == .failed)
        }
    }

    @Test("are signed again to the byte where the algorithm is deterministic")
    func signAgain() throws {
        for vector in [PublishedVector.a1, .a2, .cookbook4, .edwards] {
            let token = CompactToken(vector.token)
            let jwk = try vector.jwk()
            let key = try SigningKey.jwk(jwk)
            #expect(try key.sign(token.signingInput, algorithm: vector.algorithm) == token.signature)
        }
    }

    @Test("of an unsecured JWS are refused by every key")
    func unsecured() throws {
        let token = CompactToken(PublishedVector.unsecured)
        #expect(token.isWellFormed)
        for vector in PublishedVector.allCases {
            let key = try VerificationKey.jwk(vector.jwk(), acceptsPrivate: true)
            #expect(token.algorithm(is: vector.algorithm).outcome == .failed)
            #expect(token.signature(by: key, algorithm: vector.algorithm).outcome == .failed)
        }
    }

    @Test("of thumbprints are met")
    func thumbprints() throws {
        let rsa = try VerificationKey.jwk(JSON.parse(PublishedVector.thumbprintKey.utf8))
        #expect(rsa.thumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
        let edwards = try VerificationKey.jwk(PublishedVector.edwards.jwk(), acceptsPrivate: true)
        #expect(edwards.thumbprint == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
        let secret = try VerificationKey.secret("secret")
        #expect(secret.thumbprint == nil)
    }
}
