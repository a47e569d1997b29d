internal import COpenSSL

/// Reads and writes PEM (RFC 7468).
enum PEM {
    /// One block: its label, the headers of an old encrypted key, and the bytes.
    struct Block {
        let label: String
        let headers: String
        let bytes: [UInt8]
    }

    /// All blocks of a text; other text is ignored.
    static func blocks(of text: [UInt8]) throws(KeyError) -> [Block] {
        try text.withUnsafeBufferPointer { (text) throws(KeyError) in
            try OpenSSL.run { () throws(KeyError) in try blocks(of: text) }
        }
    }

    private static func blocks(of text: UnsafeBufferPointer<UInt8>) throws(KeyError) -> [Block] {
        guard let start = text.baseAddress, !text.isEmpty else { return [] }
        guard let count = Int32(exactly: text.count) else { throw .unreadable("more than 2 GB") }
        guard let source = BIO_new_mem_buf(start, count) else { throw .unreadable("out of memory") }
        defer { BIO_free(source) }
        var blocks: [Block] = []
        while let block = try next(from: source) { blocks.append(block) }
        return blocks
    }

    private static func next(from source: OpaquePointer) throws(KeyError) -> Block? {
        var label: UnsafeMutablePointer<CChar>?
        var headers: UnsafeMutablePointer<CChar>?
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard PEM_read_bio(source, &label, &headers, &bytes, &count) == 1 else {
            // The end of the text is reported as an error too; any other error means a broken block.
            let error = ERR_peek_last_error()
            if ERR_GET_REASON(error) == PEM_R_NO_START_LINE { return nil }
            throw .unreadable("a PEM block is broken")
        }
        defer {
            for pointer in [UnsafeMutableRawPointer(label), .init(headers), .init(bytes)] {
                CRYPTO_free(pointer, nil, 0)
            }
        }
        return Block(
            label: label.map { String(cString: $0) } ?? "", headers: headers.map { String(cString: $0) } ?? "",
            bytes: Array(UnsafeBufferPointer(start: bytes, count: count)))
    }

    /// A block with that label, in lines of 64 characters.
    static func text(label: String, _ bytes: [UInt8]) -> String {
        var digits = Array(Base64.encode(bytes).utf8)[...]
        var text = "-----BEGIN \(label)-----\n"
        while !digits.isEmpty {
            text += String(decoding: digits.prefix(64), as: UTF8.self) + "\n"
            digits = digits.dropFirst(64)
        }
        return text + "-----END \(label)-----\n"
    }
}
