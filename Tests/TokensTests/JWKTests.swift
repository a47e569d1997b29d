import Expectations
import JSON
import TestKeys
import Testing

@testable import Tokens

@Suite("Keys from JWK and JWKS") struct JWKTests {
    static func rsa() throws -> JSONObject {
        try #require(try SigningKey.pem(TestPEM.rsaPrivate, id: "r").publicJWK()?.object)
    }

    static func ec() throws -> JSONObject { try #require(try PublishedVector.cookbook3.jwk().object) }

    @Test("A public JWK reads back as the same key") func roundTrip() throws {
        for key in [
            try SigningKey.pem(TestPEM.rsaPrivate, id: "r"), try .generateEC(.p256, id: "e"), try .generateEC(.p384),
            try .generateEC(.p521), try .generateEd25519(),
        ] {
            let jwk = try #require(key.publicJWK(algorithm: key.algorithms[0]))
            let read = try VerificationKey.jwk(jwk)
            expect(read.thumbprint, is: key.thumbprint)
            expect(read.kind, is: key.kind)
            expect(read.id, is: key.id)
            expect(read.algorithms, is: [key.algorithms[0]])
        }
        expect(try SigningKey.secret("secret").publicJWK(), is: nil)
    }

    @Test("Members that are unknown or of other types do no harm, a leading zero in n neither")
    func tolerated() throws {
        var jwk = try Self.rsa()
        let modulus = try #require(jwk["n"]?.string)
        jwk["n"] = .string(Base64URL.encode([0] + (try Base64URL.decode(modulus.utf8))))
        jwk["x5c"] = [1, 2, 3]
        jwk["x5u"] = "https://attacker.example/cert"
        jwk["whatever"] = ["deep": [nil, true]]
        jwk["key_ops"] = ["encrypt", "verify"]
        let plain = try VerificationKey.jwk(.object(Self.rsa()))
        expect(try VerificationKey.jwk(.object(jwk)).thumbprint, is: plain.thumbprint)
    }

    static let smallModulus: JSON = .string(Base64URL.encode([UInt8](repeating: 0xFF, count: 128)))
    static let evenModulus: JSON = .string(Base64URL.encode([UInt8](repeating: 0xFE, count: 256)))

    /// What is wrong, the member and its value in an otherwise good RSA key, and the reason.
    static let refusedRSA: [(String, String, JSON?, KeyError)] = [
        ("use enc", "use", "enc", .purpose("use is \"enc\", expected \"sig\"")),
        ("use of another type", "use", 1, .purpose("use is 1, expected \"sig\"")),
        (
            "key_ops without verify", "key_ops", ["encrypt"],
            .purpose("key_ops is [\"encrypt\"], expected an array with \"verify\"")
        ),
        ("key_ops no array", "key_ops", "verify", .purpose("key_ops is \"verify\", expected an array with \"verify\"")),
        ("alg of encryption", "alg", "RSA-OAEP", .algorithm("RSA-OAEP")),
        ("alg of another key type", "alg", "ES256", .algorithm("ES256")),
        ("alg of HMAC on a public key", "alg", "HS256", .algorithm("HS256")),
        ("alg in small letters", "alg", "rs256", .algorithm("rs256")),
        ("alg none", "alg", "none", .algorithm("none")),
        ("alg no string", "alg", nil as JSON? ?? .null, .member("alg", "is null, not a string")),
        ("no kty", "kty", nil, .member("kty", "is absent")),
        ("kty unknown", "kty", "rsa", .unsupportedType("rsa")),
        ("kty with a Kelvin sign", "kty", "O\u{212A}P", .unsupportedType("O\u{212A}P")),
        ("kid no string", "kid", 7, .member("kid", "is number, not a string")),
        ("no n", "n", nil, .member("n", "is absent")),
        ("n no string", "n", 65_537, .member("n", "is number, not a string")),
        ("e padded", "e", "AQAB==", .member("e", "is not base64url: padding with “=”")),
        ("e standard base64", "e", "AQ+B", .member("e", "is not base64url: “+” of the standard base64 alphabet")),
        ("e with unused bits", "e", "AR", .member("e", "is not base64url: unused bits that are not zero")),
        ("e even", "e", "AQAC", .rsaExponent),
        ("e one", "e", "AQ", .rsaExponent),
        ("e of nine bytes", "e", "AQAAAAAAAAAB", .rsaExponent),
        ("n of 1024 bits", "n", smallModulus, .rsaTooSmall(bits: 1024)),
        ("n even", "n", evenModulus, .rsaModulus),
        ("private member d", "d", "AQAB", .privateKey),
        ("private member p", "p", "AQAB", .privateKey),
    ]

    /// The same in a key of P-521.
    static let refusedEC: [(String, String, JSON?, KeyError)] = [
        ("curve in small letters", "crv", "p-521", .unsupportedCurve("p-521")),
        ("curve of another key", "crv", "P-256", .member("x", "has 66 bytes; expected 32")),
        ("curve without an algorithm", "crv", "secp256k1", .unsupportedCurve("secp256k1")),
        ("y cut", "y", "AQ", .member("y", "has 1 bytes; expected 66")),
        ("point off the curve", "y", .string(Base64URL.encode([UInt8](repeating: 0, count: 66))), .pointOffCurve),
        ("ES256 on P-521", "alg", "ES256", .algorithm("ES256")),
    ]

    @Test("A JWK that breaks a rule is refused, with the reason", arguments: refusedRSA + refusedEC)
    func refused(_ name: String, _ member: String, _ value: JSON?, _ error: KeyError) throws {
        let good = try Self.refusedEC.contains { $0.0 == name } ? Self.ec() : Self.rsa()
        var jwk = good
        jwk[member] = value
        expect(throws: error) { try VerificationKey.jwk(.object(jwk)) }
        #expect(throws: Never.self) { try VerificationKey.jwk(.object(good)) }
    }

    private static func edwards(_ bytes: [UInt8], crv: JSON = "Ed25519") throws -> VerificationKey {
        try .jwk(["kty": "OKP", "crv": crv, "x": .string(Base64URL.encode(bytes))])
    }

    /// The ordinates 0 and 1, p - 1 and what p and p + 1 are modulo p = 2^255 - 19, and both of order eight.
    private static let smallOrders = [
        "00" + String(repeating: "00", count: 31), "01" + String(repeating: "00", count: 31),
        "ec" + String(repeating: "ff", count: 30) + "7f", "ed" + String(repeating: "ff", count: 30) + "7f",
        "ee" + String(repeating: "ff", count: 30) + "7f",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    ]

    @Test("Ed25519 points of small order are refused, whatever their sign", arguments: smallOrders)
    func smallOrder(_ ordinate: String) throws {
        var bytes = try #require(Hexadecimal.decode(ordinate.utf8))
        expect(throws: KeyError.pointOfSmallOrder) { try Self.edwards(bytes) }
        bytes[31] |= 0x80
        expect(throws: KeyError.pointOfSmallOrder) { try Self.edwards(bytes) }
    }

    @Test("Ed25519 points of other lengths and of other curves are refused") func edwardsPoints() throws {
        let zeros = [UInt8](repeating: 0, count: 31)
        expect(throws: KeyError.member("x", "has 31 bytes; expected 32")) { try Self.edwards(zeros) }
        expect(throws: KeyError.unsupportedCurve("X25519")) { try Self.edwards([9] + zeros, crv: "X25519") }
        expect(throws: KeyError.unsupportedCurve("Ed448")) { try Self.edwards([9] + zeros, crv: "Ed448") }
    }

    @Test("A JWK with a repeated member is refused") func duplicates() throws {
        var jwk = try Self.rsa()
        jwk.append("n", "AQAB")
        expect(throws: KeyError.member("n", "occurs twice")) { try VerificationKey.jwk(.object(jwk)) }
    }

    @Test("Whatever is no JWK is refused", arguments: [nil, true, 1, "RSA", [], [:]] as [JSON])
    func noJWK(_ value: JSON) {
        expect(throws: KeyError.self) { try VerificationKey.jwk(value) }
        expect(throws: KeyError.self) { try SigningKey.jwk(value) }
        expect(throws: KeyError.self) { try KeySet(jwks: value) }
    }

    @Test("A set keeps the usable keys, and says what it left out and why") func keySet() throws {
        var encryption = try Self.rsa()
        encryption["use"] = "enc"
        encryption["kid"] = "e"
        let secret: JSON = ["kty": "oct", "k": "c2VjcmV0", "kid": "s"]
        let set = try KeySet(
            jwks: ["keys": [.object(try Self.rsa()), .object(encryption), secret, 7, .object(try Self.ec())]])
        expect(set.keys.map(\.id), is: ["r", "bilbo.baggins@hobbiton.example"])
        expect(set.skipped.map(\.index), is: [1, 2, 3])
        expect(set.skipped.map(\.id), is: ["e", "s", nil])
        expect(set.skipped[1].reason, is: .sharedSecret)
        #expect(set.key(withID: "e") == nil)
        expect(try KeySet(jwks: ["keys": [secret]], acceptsPrivate: true).keys[0].kind, is: .secret(byteCount: 6))
    }

    @Test("A name is compared byte for byte, and the first of two equal ones wins") func lookUp() throws {
        let first = try VerificationKey.secret("one", id: "caf\u{E9}")
        let set = KeySet(keys: [first, try .secret("two two", id: "caf\u{E9}"), try .secret("three", id: "x")])
        expect(set.key(withID: "caf\u{E9}")?.kind, is: first.kind)
        #expect(set.key(withID: "cafe\u{301}") == nil)
        #expect(set.key(withID: "X") == nil)
    }

    @Test("Private members are found anywhere in a set") func privateMembers() throws {
        expectEmpty(KeySet.privateMembers(in: ["keys": [.object(try Self.rsa())]]))
        let secret: JSON = ["kty": "oct", "k": "c2VjcmV0"]
        expect(KeySet.privateMembers(in: ["keys": [.object(try Self.rsa()), secret]]), is: ["k"])
        expect(try KeySet.privateMembers(in: PublishedVector.a2.jwk()), is: ["d", "p", "q", "dp", "dq", "qi"])
    }

    @Test("Private JWKs sign; one whose halves disagree is refused") func privateKeys() throws {
        for vector in [PublishedVector.a2, .a3, .a4, .edwards] {
            let key = try SigningKey.jwk(vector.jwk())
            let signature = try key.sign([1, 2, 3], algorithm: vector.algorithm)
            expect(
                key.verificationKey.isValid(signature: signature, for: [1, 2, 3], algorithm: vector.algorithm), is: true
            )
        }
        for vector in [PublishedVector.a3, .edwards] {
            var mixed = try #require(try vector.jwk().object)
            mixed["d"] = .string(Base64URL.encode([UInt8](repeating: 1, count: 32)))
            expect(throws: KeyError.partsDisagree) { try SigningKey.jwk(.object(mixed)) }
        }
        expect(throws: KeyError.notPrivate) { try SigningKey.jwk(.object(Self.rsa())) }
    }
}
