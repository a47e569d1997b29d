import JSON
import Tokens
import Understudy

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

    /// A JWK as it is, usable or not.
    static func jwk(_ path: String) throws -> JSON {
        let bytes = try content(of: path)
        // What is wrong with the text hardly matters: the file is another one than was meant.
        guard let value = try? JSON.parse(bytes), value.object != nil, value["keys"] == nil else {
            throw Misuse("the key file \(path) is not a JWK: a JSON object with the members of one key.")
        }
        return value
    }

    /// A public key in PEM or DER; of several the first, as in a certificate with its chain.
    static func publicKey(_ path: String) throws -> VerificationKey {
        do {
            guard let key = try encodedKeys(try content(of: path)).first else { throw KeyError.noKeyInPEM }
            return key
        } catch let error as KeyError {
            throw Misuse("the key file \(path) cannot be used: \(error).")
        }
    }

    private static func content(of path: String) throws -> [UInt8] {
        guard let bytes = try? Files.content(of: path) else { throw Misuse("the key file \(path) cannot be read.") }
        return bytes
    }

    private static func keys(of path: String) throws -> [VerificationKey] {
        let bytes = try content(of: path)
        // Anything but JSON is PEM or DER.
        if let value = try? JSON.parse(bytes) {
            return value["keys"] == nil
                ? [try VerificationKey.jwk(value, acceptsPrivate: true)]
                : try KeySet(jwks: value, acceptsPrivate: true).keys
        }
        return try encodedKeys(bytes)
    }

    private static func encodedKeys(_ bytes: [UInt8]) throws -> [VerificationKey] {
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
