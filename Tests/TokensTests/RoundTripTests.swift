import Testing
import Tokens

@Suite("Signing and verifying")
struct RoundTripTests {
    @Test("fit each other for every algorithm, and for no other", arguments: Algorithm.allCases)
    func everyAlgorithm(_ algorithm: Algorithm) throws {
        let key = try Attack.key(for: algorithm)
        let message: [UInt8] = Array("a message".utf8)
        let signature = try key.sign(message, algorithm: algorithm)
        for other in Algorithm.allCases {
            let fits = key.verificationKey.isValid(signature: signature, for: message, algorithm: other)
            #expect(fits == (other == algorithm))
        }
        #expect(!key.verificationKey.isValid(signature: signature, for: message + [0], algorithm: algorithm))
        #expect(!key.verificationKey.isValid(signature: [], for: message, algorithm: algorithm))
        #expect(!key.verificationKey.limited(to: []).isValid(signature: signature, for: message, algorithm: algorithm))
    }

    @Test("hold for any number of ECDSA signatures, short numbers in them included", arguments: KeyKind.Curve.allCases)
    func manySignatures(_ curve: KeyKind.Curve) throws {
        let key = try SigningKey.generateEC(curve)
        let algorithm = key.algorithms[0]
        // One in 128 signatures has an r or s with a leading zero byte.
        for index in 0..<300 {
            let message = [UInt8(index & 0xFF), UInt8(index >> 8)]
            let signature = try key.sign(message, algorithm: algorithm)
            #expect(key.verificationKey.isValid(signature: signature, for: message, algorithm: algorithm))
        }
    }

    @Test("work from many tasks with one key", arguments: [Algorithm.hs512, .rs256, .es256, .edDSA])
    func concurrently(_ algorithm: Algorithm) async throws {
        let key = try Attack.key(for: algorithm).verificationKey
        let token = CompactToken(
            try TokenDraft(header: [:], claims: [:]).mint(key: Attack.key(for: algorithm), algorithm: algorithm))
        let passed = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<50).count { _ in token.signature(by: key, algorithm: algorithm).outcome == .passed }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(passed == 400)
    }

    @Test("refuse RSA keys that are too short or too long to be made")
    func generation() throws {
        #expect(throws: KeyError.rsaTooSmall(bits: 2047)) { try SigningKey.generateRSA(bits: 2047) }
        #expect(throws: KeyError.rsaTooLarge(bits: 16_385)) { try SigningKey.generateRSA(bits: 16_385) }
        #expect(try SigningKey.generateRSA(id: "new").kind == .rsa(bits: 2048))
    }

    @Test("RSA keys decrypt what was encrypted for them, with the same hash only", arguments: OAEPHash.allCases)
    func oaep(_ hash: OAEPHash) throws {
        let key = try Attack.key(for: .rs256)
        let text = Array("4200000000000000".utf8)
        let encrypted = try #require(key.verificationKey.encryptOAEP(text, hash: hash))
        #expect(encrypted.count == 256)
        #expect(key.decryptOAEP(encrypted, hash: hash) == text)
        #expect(key.decryptOAEP(encrypted, hash: hash == .sha1 ? .sha256 : .sha1) == nil)
        #expect(key.decryptOAEP(Array(encrypted.dropLast()), hash: hash) == nil)
        #expect(key.decryptOAEP([], hash: hash) == nil)
        #expect(try SigningKey.generateRSA().decryptOAEP(encrypted, hash: hash) == nil)
        #expect(key.verificationKey.encryptOAEP([UInt8](repeating: 0, count: 256), hash: hash) == nil)
        #expect(try Attack.key(for: .es256).decryptOAEP(encrypted) == nil)
        let empty = try #require(key.verificationKey.encryptOAEP([], hash: hash))
        #expect(key.decryptOAEP(empty, hash: hash) == [])
    }
}
