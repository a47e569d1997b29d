import JSON
import Testing
import Tokens

@Suite("RSA keys of a broken generator")
struct ROCAFingerprintTests {
    /// A 2048-bit test modulus composed of random powers; no one uses its primes.
    private static let marked =
        "6J8UwMkFyxVFGsKNQze3zy6s58gBITKJqkz2-Scx7oUiLCnsIuaZcm7aHP1WKzPjjgSz9FEQbgqYUNWx7JnKtMOfLWwam-6kqPJQ"
        + "A-UuRO1OkgamBqkQZUDnNULGwpVGQcrGZXWQUnUofsVhRKZcLn04Ol3MXkiZdwyfVngB1S7vA2FUAnN-kYHwbdzbrYjReiBCM4fB"
        + "OJCKz2ERc79lP1nE4qzFRsioe4m7mWXRkaUzQ45w-WGKcxDkZ_Tcdw9KE92xCJ1t24hnsWt7Xnzcboo4tAbpq6mt-I8P_-oWlhQF"
        + "C5efdGEUD6nj2jPnH7eB1HB1tIOB8SpD6Ez19DucRw"

    @Test("a modulus that lies in the subgroup of 65537 modulo every small prime is refused by name")
    func marked() {
        #expect(throws: KeyError.rsaFingerprint) {
            try VerificationKey.jwk(["kty": "RSA", "n": .string(Self.marked), "e": "AQAB"])
        }
        #expect(KeyError.rsaFingerprint.description.contains("ROCA fingerprint (CVE-2017-15361)"))
    }

    @Test("keys of other generators do not bear the mark", arguments: [2048, 3072])
    func others(_ bits: Int) throws {
        #expect(throws: Never.self) { try SigningKey.generateRSA(bits: bits) }
    }

    @Test("exponent 1 and an even modulus are refused by name")
    func usual() {
        #expect(throws: KeyError.rsaExponent) {
            try VerificationKey.jwk(["kty": "RSA", "n": .string(Self.marked), "e": "AQ"])
        }
        let even = String(Self.marked.dropLast()) + "A"
        #expect(throws: KeyError.rsaModulus) {
            try VerificationKey.jwk(["kty": "RSA", "n": .string(even), "e": "AQAB"])
        }
    }
}
