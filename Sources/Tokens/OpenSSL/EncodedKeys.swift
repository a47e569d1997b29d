import COpenSSL

/// Keys in DER, the content of PEM blocks.
enum DERKey {
    /// A SubjectPublicKeyInfo (RFC 5280 section 4.1.2.7).
    static func publicKey(_ bytes: [UInt8]) throws(KeyError) -> AsymmetricKey {
        if let numbers = RSANumbers.publicKeyInfo(bytes) {
            return try KeyBuilder.rsa(modulus: numbers.modulus, exponent: numbers.exponent)
        }
        return try key(bytes, "a SubjectPublicKeyInfo", hasPrivatePart: false) { d2i_PUBKEY(nil, &$0, $1) }
    }

    /// An RSAPublicKey (RFC 8017 appendix A.1.1).
    static func rsaPublicKey(_ bytes: [UInt8]) throws(KeyError) -> AsymmetricKey {
        if let numbers = RSANumbers.publicKey(bytes[...]) {
            return try KeyBuilder.rsa(modulus: numbers.modulus, exponent: numbers.exponent)
        }
        return try key(bytes, "an RSAPublicKey", hasPrivatePart: false) { d2i_PublicKey(EVP_PKEY_RSA, nil, &$0, $1) }
    }

    /// A private key: PKCS#8, RSAPrivateKey or ECPrivateKey.
    static func privateKey(_ bytes: [UInt8]) throws(KeyError) -> AsymmetricKey {
        if let numbers = RSANumbers.privateKey(bytes) {
            return try KeyBuilder.rsa(privateNumbers: numbers, checkingParts: false)
        }
        return try key(bytes, "a private key", hasPrivatePart: true) { d2i_AutoPrivateKey(nil, &$0, $1) }
    }

    /// The public key and the dates of a certificate; signature and names are not checked.
    static func certificate(_ bytes: [UInt8]) throws(KeyError) -> (AsymmetricKey, CertificateValidity) {
        let found: (OpaquePointer, CertificateValidity)? = OpenSSL.run {
            let (certificate, isWhole) = decode(bytes) { d2i_X509(nil, &$0, $1) }
            guard let certificate else { return nil }
            defer { X509_free(certificate) }
            guard isWhole, let validity = CertificateValidity(certificate: certificate),
                let key = X509_get_pubkey(certificate)
            else { return nil }
            return (key, validity)
        }
        guard let (key, validity) = found else { throw .unreadable("the bytes are no X.509 certificate in DER") }
        return (try AsymmetricKey(owning: key, hasPrivatePart: false), validity)
    }

    private static func key(
        _ bytes: [UInt8], _ name: String, hasPrivatePart: Bool,
        _ read: (inout UnsafePointer<UInt8>?, Int) -> OpaquePointer?
    ) throws(KeyError) -> AsymmetricKey {
        let (key, isWhole) = OpenSSL.run { decode(bytes, read) }
        guard let key else { throw .unreadable("the bytes are not \(name) in DER") }
        guard isWhole else {
            EVP_PKEY_free(key)
            throw .unreadable("something follows \(name)")
        }
        return try AsymmetricKey(owning: key, hasPrivatePart: hasPrivatePart)
    }

    private static func decode(
        _ bytes: [UInt8], _ read: (inout UnsafePointer<UInt8>?, Int) -> OpaquePointer?
    ) -> (object: OpaquePointer?, isWhole: Bool) {
        bytes.withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            let object = read(&position, buffer.count)
            return (object, position == buffer.baseAddress.map { $0 + buffer.count })
        }
    }
}

/// Reads the DER (X.690) that keys and signatures need.
struct DERReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// Reads the sequence that these bytes are, with nothing behind it.
    init?(sequence bytes: ArraySlice<UInt8>) {
        var outer = DERReader(bytes)
        guard let content = outer.sequence(), outer.isAtEnd else { return nil }
        self = content
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// The content of the next value, if it has that tag and a minimally encoded length.
    mutating func content(_ tag: UInt8) -> ArraySlice<UInt8>? {
        guard rest.popFirst() == tag, let count = length(), count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func sequence() -> DERReader? { content(0x30).map(DERReader.init) }

    /// The next number, most significant byte first, if it is positive and minimally encoded.
    mutating func positiveNumber() -> [UInt8]? {
        guard let digits = content(0x02), let first = digits.first, first < 0x80 else { return nil }
        if first > 0 { return Array(digits) }
        guard let second = digits.dropFirst().first, second >= 0x80 else { return nil }
        return Array(digits.dropFirst())
    }

    private mutating func length() -> Int? {
        guard let first = rest.popFirst() else { return nil }
        if first < 0x80 { return Int(first) }
        let count = Int(first & 0x7F)
        guard (1...4).contains(count), count <= rest.count, rest.first != 0 else { return nil }
        defer { rest = rest.dropFirst(count) }
        let value = rest.prefix(count).reduce(0) { $0 << 8 | Int($1) }
        return value < 0x80 ? nil : value
    }
}

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
        do throws(KeyError) {
            return try text.withUnsafeBufferPointer { (text) throws(KeyError) in
                try OpenSSL.run { () throws(KeyError) in try blocks(of: text) }
            }
        } catch {
            throw .unreadable(error, text)
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
