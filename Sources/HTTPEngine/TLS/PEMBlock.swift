internal import COpenSSL

/// One block of a PEM text (RFC 7468): its label, the headers of an old encrypted key, and the bytes.
struct PEMBlock {
    let label: String
    let headers: String
    let bytes: [UInt8]

    /// Whether the bytes are protected by a passphrase, in PKCS #8 or the older form of RFC 1421.
    var isEncrypted: Bool { label == "ENCRYPTED PRIVATE KEY" || headers.contains("ENCRYPTED") }

    /// Whether the block is a certificate, under any common label.
    var isCertificate: Bool { ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"].contains(label) }

    var isPrivateKey: Bool { label.hasSuffix("PRIVATE KEY") }

    /// All blocks of a text; other text is ignored.
    static func all(of text: [UInt8], _ part: TLSIdentityError.Part) throws(TLSIdentityError) -> [PEMBlock] {
        try text.withUnsafeBufferPointer { (text) throws(TLSIdentityError) in
            guard let start = text.baseAddress, let count = Int32(exactly: text.count) else { return [] }
            guard let source = BIO_new_mem_buf(start, count) else { throw .unusable("out of memory") }
            defer { BIO_free(source) }
            return try TLSErrors.run { () throws(TLSIdentityError) in
                var blocks: [PEMBlock] = []
                while let block = try next(of: source, part, position: blocks.count + 1) { blocks.append(block) }
                return blocks
            }
        }
    }

    private static func next(
        of source: OpaquePointer, _ part: TLSIdentityError.Part, position: Int
    ) throws(TLSIdentityError) -> PEMBlock? {
        var label: UnsafeMutablePointer<CChar>?
        var headers: UnsafeMutablePointer<CChar>?
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard PEM_read_bio(source, &label, &headers, &bytes, &count) == 1 else {
            // The end of the text is reported as an error too; any other error means a broken block.
            if ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE { return nil }
            throw .unreadableBlock(position, of: part)
        }
        defer {
            // The bytes may be a key.
            CRYPTO_clear_free(bytes, count, nil, 0)
            for pointer in [label, headers] { CRYPTO_free(pointer, nil, 0) }
        }
        return PEMBlock(
            label: label.map { String(cString: $0) } ?? "", headers: headers.map { String(cString: $0) } ?? "",
            bytes: Array(UnsafeBufferPointer(start: bytes, count: count)))
    }
}
