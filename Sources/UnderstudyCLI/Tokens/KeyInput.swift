import JSON
import Tokens

/// The key of `token verify`, from a file in any usual form or from a secret.
struct KeyInput {
    let keys: [VerificationKey]

    init(file: String?, secret: String?) throws {
        do {
            switch (file, secret) {
            case (nil, let secret?): keys = [try VerificationKey.secret(secret)]
            case (let file?, nil): keys = try Self.keys(of: file)
            default: throw Misuse("give one key: --key FILE or --secret TEXT.")
            }
        } catch let error as KeyError {
            throw Misuse("\(file.map { "the key file \($0)" } ?? "the secret") cannot be used: \(error).")
        }
    }

    private static func keys(of path: String) throws -> [VerificationKey] {
        guard let bytes = try? Files.content(of: path) else { throw Misuse("the key file \(path) cannot be read.") }
        // Anything but JSON is PEM or DER.
        if let value = try? JSON.parse(bytes) {
            return value["keys"] == nil
                ? [try VerificationKey.jwk(value, acceptsPrivate: true)]
                : try KeySet(jwks: value, acceptsPrivate: true).keys
        }
        if bytes.starts(with: "-----".utf8) || bytes.firstRange(of: "-----BEGIN".utf8) != nil {
            return try VerificationKey.pem(bytes)
        }
        do {
            return [try VerificationKey.certificate(der: bytes)]
        } catch {
            return [try VerificationKey.publicKey(der: bytes)]
        }
    }
}
