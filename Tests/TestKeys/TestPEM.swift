import Foundation

/// Invented test keys; none of them protects anything.
package enum TestPEM {
    /// Valid from 2026 to 2126.
    package static let rsaCertificate = read("rsaCertificate")
    /// The public key of the certificate.
    package static let rsaPublic = read("rsaPublic")
    /// The same as RSAPublicKey.
    package static let rsaPKCS1Public = read("rsaPKCS1Public")
    /// Its private key as PKCS#8.
    package static let rsaPrivate = read("rsaPrivate")
    /// Its private key as RSAPrivateKey.
    package static let rsaPKCS1Private = read("rsaPKCS1Private")
    /// Valid from 2020 until 2021-01-01T12:30:15Z.
    package static let ecCertificate = read("ecCertificate")
    /// Its private key, with the parameters block that OpenSSL writes.
    package static let ecPrivate = read("ecPrivate")
    /// Ed25519.
    package static let edwardsPublic = read("edwardsPublic")
    /// Its private key.
    package static let edwardsPrivate = read("edwardsPrivate")
    /// RSA with exponent 3.
    package static let exponentThree = read("exponentThree")
    /// Too short.
    package static let rsa1024 = read("rsa1024")
    /// A curve that no supported algorithm uses.
    package static let secp256k1 = read("secp256k1")
    /// P-256 given by its parameters instead of its name.
    package static let explicitCurve = read("explicitCurve")
    /// RSA for PSS only.
    package static let restrictedPSS = read("restrictedPSS")
    /// A key that cannot sign.
    package static let x25519 = read("x25519")
    /// Password-protected PKCS#8.
    package static let encrypted = read("encrypted")
    /// Password-protected in the older format.
    package static let encryptedOld = read("encryptedOld")

    private static func read(_ name: String) -> String {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let text = try? String(contentsOf: tests.appending(path: "Keys/\(name).pem"), encoding: .utf8)
        return String((text ?? "").dropLast())
    }
}
