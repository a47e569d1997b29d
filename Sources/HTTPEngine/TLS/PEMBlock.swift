internal import COpenSSL

/// One block of a PEM text (RFC 7468): the words behind BEGIN, the header lines of an old encrypted key, and the bytes.
struct PEMBlock {
    let label: String
    let headers: String
    let bytes: [UInt8]

    /// Whether a passphrase protects the bytes, in the form of PKCS #8 or the older one of RFC 1421.
    var isEncrypted: Bool { label == "ENCRYPTED PRIVATE KEY" || headers.contains("ENCRYPTED") }

    /// Whether the block holds a certificate, by any of the labels that are in use.
    var isCertificate: Bool { ["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"].contains(label) }

    /// Whether the block holds a private key.
    var isPrivateKey: Bool { label.hasSuffix("PRIVATE KEY") }

    /// All blocks of a text; what stands around them is ignored.
    static func all(of text: [UInt8], _ part: TLSIdentityError.Part) throws(TLSIdentityError) -> [PEMBlock] {
        try text.withUnsafeBufferPointer { (text) throws(TLSIdentityError) in
            guard let start = text.baseAddress, let count = Int32(exactly: text.count) else { return [] }
            guard let source = BIO_new_mem_buf(start, count) else { throw .unusable("out of memory") }
            defer { BIO_free(source) }
            return try OpenSSL.run { () throws(TLSIdentityError) in
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
            // The end of the text looks like an error, too; any other one means a block that is broken.
            if ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE { return nil }
            throw .unreadableBlock(position, of: part)
        }
        defer {
            // Keys are among the bytes.
            CRYPTO_clear_free(bytes, count, nil, 0)
            for pointer in [label, headers] { CRYPTO_free(pointer, nil, 0) }
        }
        return PEMBlock(
            label: label.map { String(cString: $0) } ?? "", headers: headers.map { String(cString: $0) } ?? "",
            bytes: Array(UnsafeBufferPointer(start: bytes, count: count)))
    }
}
