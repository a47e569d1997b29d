/// Digests, for tags that change with their content.
public enum Digest {
    /// The SHA-256 digest, 32 bytes.
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] { OpenSSL.sha256(bytes) }

    /// Whether digests or secrets are equal, in a time that depends only on their lengths.
    public static func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool { OpenSSL.areEqual(first, second) }
}
