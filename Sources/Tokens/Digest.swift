/// Digests, for tags that change with their content.
public enum Digest {
    /// The SHA-256 digest, 32 bytes.
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] { OpenSSL.sha256(bytes) }
}
