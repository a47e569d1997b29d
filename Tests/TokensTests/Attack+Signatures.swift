import JSON
import Tokens

extension Attack {
    static let algorithmAttacks: [Attack] =
        ["none", "None", "NONE", "nOnE", "none ", " none", "nоne", "", "hs256", "HS256 ", "HS256\u{0}", "HS512"].flatMap
    { name in
        [
            Attack("alg “\(name)” with an empty signature", "algorithm") { _ in
                let parts = try sign([("alg", .string(name))], .hs256).split(separator: ".")
                return "\(parts[0]).\(parts[1])."
            },
            Attack("alg “\(name)” with a good signature", "algorithm") {
                try sign([("alg", .string(name))], $0)
            },
        ]
    } + [
        Attack("alg absent", "algorithm") { try sign([("typ", "JWT")], $0) },
        Attack("alg null", "algorithm") { try sign([("alg", nil)], $0) },
        Attack("alg a number", "algorithm") { try sign([("alg", 256)], $0) },
        Attack("alg an array", "algorithm") { try sign([("alg", ["HS256"])], $0) },
        Attack("alg under another name", "algorithm") { try sign([("ALG", "HS256")], $0) },
        Attack("alg none with the signature stripped", "signature") { _ in
            let parts = try sign([("alg", "none")], .hs256).split(separator: ".")
            return "\(parts[0]).\(parts[1])."
        },
        Attack("typ of another token", "type") { try sign([("alg", "HS256"), ("typ", "at+jwt")], $0) },
        Attack("crit with an unknown extension", "critical") {
            try sign([("alg", "HS256"), ("crit", ["b64"]), ("b64", false)], $0)
        },
        Attack("crit empty", "critical") { try sign([("alg", "HS256"), ("crit", [])], $0) },
        Attack("crit null", "critical") { try sign([("alg", "HS256"), ("crit", nil)], $0) },
    ]

    static let keyAttacks: [Attack] = [
        Attack("HS256 with the public key as secret", "algorithm", .rs256) { _ in try defect(.publicKeyAsSecret, .rs256)
        },
        Attack("HS256 with the public key as secret, as signature", "signature", .rs256) { _ in
            try defect(.publicKeyAsSecret, .rs256)
        },
        Attack("HS256 with an EC public key as secret", "signature", .es256) { _ in
            try defect(.publicKeyAsSecret, .es256)
        },
        Attack("HS256 with an Ed25519 public key as secret", "signature", .edDSA) { _ in
            try defect(.publicKeyAsSecret, .edDSA)
        },
        Attack("signed with another secret", "signature") { try defect(.wrongSecret, $0) },
        Attack("signed with another RSA key", "signature", .rs256) { try defect(.wrongKey, $0) },
        Attack("signed with another EC key", "signature", .es256) { try defect(.wrongKey, $0) },
        Attack("signed with another Ed25519 key", "signature", .edDSA) { try defect(.wrongKey, $0) },
        Attack("signed with the key embedded as jwk", "signature", .es256) { _ in
            let attacker = try SigningKey.generateEC(.p256)
            let header: JSONObject = ["alg": "ES256", "jwk": attacker.publicJWK() ?? nil]
            return try TokenDraft(header: header, claims: claims).mint(key: attacker, algorithm: .es256)
        },
        Attack("an RS256 signature under PS256", "signature", .ps256) { _ in
            try sign([("alg", "PS256")], .rs256)
        },
        Attack("a PS256 signature under RS256", "signature", .rs256) { _ in
            try sign([("alg", "RS256")], .ps256)
        },
        Attack("an RS512 signature under RS256", "signature", .rs256) { _ in try sign([("alg", "RS256")], .rs512) },
        Attack("an HS512 signature under HS256", "signature", .hs256) { _ in try sign([("alg", "HS256")], .hs512) },
        Attack("an ES256 signature under ES384", "signature", .es384) { _ in try sign([("alg", "ES384")], .es256) },
        Attack("an ES512 signature under ES256", "signature", .es256) { _ in try sign([("alg", "ES256")], .es512) },
    ]

    static let signatureAttacks: [Attack] =
        [Algorithm.hs256, .hs384, .hs512, .rs256, .ps256, .es256, .es384, .es512, .edDSA].flatMap { algorithm in
            [
                Attack("\(algorithm.rawValue) stripped", "signature", algorithm) { try signature($0) { _ in [] } },
                Attack("\(algorithm.rawValue) cut by a byte", "signature", algorithm) {
                    try signature($0) { $0.dropLast() }
                },
                Attack("\(algorithm.rawValue) cut to a byte", "signature", algorithm) {
                    try signature($0) { Array($0.prefix(1)) }
                },
                Attack("\(algorithm.rawValue) longer by a zero", "signature", algorithm) {
                    try signature($0) { $0 + [0] }
                },
                Attack("\(algorithm.rawValue) with a zero in front", "signature", algorithm) {
                    try signature($0) { [0] + $0 }
                },
                Attack("\(algorithm.rawValue) all zeros", "signature", algorithm) {
                    try signature($0) { $0.map { _ in 0 } }
                },
                Attack("\(algorithm.rawValue) first bit flipped", "signature", algorithm) {
                    try defect(.badSignature, $0)
                },
                Attack("\(algorithm.rawValue) last bit flipped", "signature", algorithm) {
                    try signature($0) { $0.dropLast() + [($0.last ?? 0) ^ 1] }
                },
                Attack("\(algorithm.rawValue) over another payload", "signature", algorithm) {
                    try defect(.tamperedPayload, $0)
                },
                Attack("\(algorithm.rawValue) over another header", "signature", algorithm) {
                    try change($0) {
                        [Base64URL.encode(Array("{\"alg\":\"\(algorithm.rawValue)\" }".utf8)), $0[1], $0[2]]
                    }
                },
            ]
        } + [
            Attack("ES256 with r = 0", "signature", .es256) {
                try signature($0) { [UInt8](repeating: 0, count: 32) + $0.suffix(32) }
            },
            Attack("ES256 with s = 0", "signature", .es256) {
                try signature($0) { $0.prefix(32) + [UInt8](repeating: 0, count: 32) }
            },
            Attack("ES256 with r = s = the order of the curve", "signature", .es256) {
                try signature($0) { _ in order + order }
            },
            Attack("ES256 with r = s = 1", "signature", .es256) {
                try signature($0) { _ in one + one }
            },
            Attack("ES256 in DER", "signature", .es256) {
                try signature($0) { [0x30, 0x44, 0x02, 0x20] + $0.prefix(32) + [0x02, 0x20] + $0.suffix(32) }
            },
            Attack("Ed25519 with s beyond the order", "signature", .edDSA) {
                try signature($0) { addEdwardsOrder($0) }
            },
            Attack("RS256 with the modulus added to nothing", "signature", .rs256) {
                try signature($0) { $0.map { _ in 0xFF } }
            },
        ]

    private static func defect(_ defect: Defect, _ algorithm: Algorithm) throws -> String {
        try TokenDraft(header: ["alg": .string(algorithm.rawValue)], claims: claims)
            .mint(key: key(for: algorithm), algorithm: algorithm, defect: defect, at: moment)
    }

    private static let one = [UInt8](repeating: 0, count: 31) + [1]

    /// The order of P-256 (FIPS 186-4 appendix D.1.2.3).
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    /// The order of Ed25519's group, least significant byte first (RFC 8032 section 5.1).
    private static let edwardsOrder: [UInt8] =
        [0xED, 0xD3, 0xF5, 0x5C, 0x1A, 0x63, 0x12, 0x58, 0xD6, 0x9C, 0xF7, 0xA2, 0xDE, 0xF9, 0xDE, 0x14]
        + [UInt8](repeating: 0, count: 15) + [0x10]

    /// An equivalent signature if a verifier does not check the range of s (RFC 8032 section 5.1.7 requires the check).
    private static func addEdwardsOrder(_ signature: [UInt8]) -> [UInt8] {
        var result = Array(signature.prefix(32))
        var carry = 0
        for (digit, added) in zip(signature.dropFirst(32), edwardsOrder) {
            let sum = Int(digit) + Int(added) + carry
            result.append(UInt8(sum & 0xFF))
            carry = sum >> 8
        }
        return result
    }
}
