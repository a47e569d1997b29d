package import JSON

/// Recognizes what people hand over in place of a key, and says what to do about it.
package enum KeyForm {
    /// What the content of a file or a member is, as a phrase; `nil` of nothing known.
    package static func mistake(in bytes: [UInt8]) -> String? {
        if bytes.allSatisfy({ $0 <= 0x20 }) { return "it is empty" }
        if let label = label(ofDER: bytes), let phrase = phrases[label] { return phrase }
        let isWide = bytes.first != 0x30 && bytes.prefix(2).contains(0)
        if isWide || bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return "it is text in UTF-16; save it as UTF-8"
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        // Text that is no JSON is looked at as PEM.
        return (try? JSON.parse(bytes)).map(mistake(in:)) ?? mistake(inText: text)
    }

    /// What a JSON value is in place of a JWK or a JWKS; `nil` of nothing known.
    package static func mistake(in value: JSON) -> String? {
        if value.string != nil { return "it is a JSON string; give the text in it" }
        if value.array != nil { return #"it is a list; a JWKS has the list in its member: {"keys": […]}"# }
        if value["jwks_uri"] != nil { return "it is a discovery document; the keys are at the URL in its jwks_uri" }
        guard let members = value.object, !members.contains(where: { keyMembers.contains($0.name) }) else { return nil }
        return members.isEmpty || !members.allSatisfy { $0.value.string?.hasPrefix("-----BEGIN ") == true }
            ? "it is a JSON object without keys; a JWK has kty, and a JWKS an array “keys”"
            : "it is a map of key ids to PEM texts; give one of the texts"
    }

    private static let keyMembers: Set = ["kty", "keys", "n", "x", "k", "x5c"]

    /// What a PEM block is that holds no key; `nil` of a sound one.
    static func mistake(inBlock label: String, _ bytes: [UInt8] = []) -> String? {
        if let held = self.label(ofDER: bytes), held != label, let name = names[held] {
            return "the block \(label) holds \(name), whose label is \(held)"
        }
        if names[label] != nil { return nil }
        return phrases[label] ?? "it is a PEM block “\(label)”; expected PUBLIC KEY, RSA PUBLIC KEY or CERTIFICATE"
    }

    /// What labels of public keys stand for.
    private static let names = [
        "CERTIFICATE": "a certificate", "PUBLIC KEY": "a SubjectPublicKeyInfo",
        "RSA PUBLIC KEY": "an RSAPublicKey of PKCS#1",
    ]
    private static let phrases = [
        "CERTIFICATE REQUEST": "it is a certificate request; openssl req -in FILE -noout -pubkey prints its key",
        "TRUSTED CERTIFICATE":
            "it is a certificate in OpenSSL's own form; openssl x509 -in FILE writes it as CERTIFICATE",
        "PKCS7": "it is a PKCS#7 bundle; openssl pkcs7 -in FILE -print_certs prints its certificates",
        "OPENSSH PRIVATE KEY": "it is an OpenSSH private key; ssh-keygen -p -m PKCS8 -f FILE rewrites it as PEM",
        "PKCS12": "it is a PKCS#12 file, which is not taken; export its certificate as PEM",
        "PRIVATE KEY": "it is a private key in DER; openssl pkey -in FILE -pubout prints its public key",
    ]

    /// The PEM label of a value in DER; `nil` of bytes that are none.
    private static func label(ofDER bytes: [UInt8]) -> String? {
        guard bytes.first == 0x30 else { return nil }
        // What is wrong with a form of key is no matter here, only which one it is.
        if (try? DERKey.certificate(bytes)) != nil { return "CERTIFICATE" }
        if (try? DERKey.publicKey(bytes)) != nil { return "PUBLIC KEY" }
        if (try? DERKey.rsaPublicKey(bytes)) != nil { return "RSA PUBLIC KEY" }
        if (try? DERKey.privateKey(bytes)) != nil { return "PRIVATE KEY" }
        // Version 3 begins the file, and a key begins otherwise (RFC 7292 section 4).
        var reader = DERReader(bytes[...])
        var content = reader.sequence()
        return content?.positiveNumber() == [3] ? "PKCS12" : nil
    }

    private static let beginnings = [
        ("ssh-", "it is an OpenSSH public key; ssh-keygen -e -m PKCS8 -f FILE prints it as PEM"),
        (
            "---- BEGIN SSH2",
            "it is an SSH2 public key; ssh-keygen -i -f FILE and ssh-keygen -e -m PKCS8 -f make PEM of it"
        ),
        ("<", "it is a page in HTML or XML, perhaps an error or a sign-in page; download the key again"),
        ("\u{FEFF}{", "it begins with a byte order mark; save it without"),
    ]

    private static func mistake(inText text: String) -> String? {
        let core = String(text.drop { $0.isWhitespace })
        if let phrase = beginnings.first(where: { core.hasPrefix($0.0) })?.1 { return phrase }
        if CompactToken(core).header != nil { return "it is a JWT; give the key that verifies it" }
        if core.firstRange(of: "BEGIN") != nil { return mistake(inPEM: text) }
        let digits = text.utf8.filter { $0 > 0x20 }
        guard let bytes = Base64URL.decodeLeniently(digits), let label = label(ofDER: bytes) else { return nil }
        return
            "it is \(names[label] ?? "a " + label.lowercased()) in base64 without its lines -----BEGIN \(label)----- and -----END \(label)-----"
    }

    /// A PEM text whose BEGIN line, line breaks or END line are spoilt.
    private static func mistake(inPEM text: String) -> String? {
        let word = text.firstRange(of: "BEGIN")?.lowerBound ?? text.startIndex
        let line = text[..<word].lastIndex(where: \.isNewline) ?? text.startIndex
        if let scalar = text[line...].unicodeScalars.first(where: { !$0.isASCII && $0 != "\u{FEFF}" }) {
            return scalar.properties.generalCategory == .dashPunctuation
                ? "its dashes are not hyphens; write five of them (-----) on each side of BEGIN and END lines"
                : "it has the character \(Lookalikes.escaped(String(scalar))), which PEM has not; remove it"
        }
        if text.firstRange(of: "\\n") != nil { return "its line breaks are written \\n; replace them by line breaks" }
        guard let begin = text.firstMatch(of: /-----BEGIN [A-Z0-9 ]+-----/) else {
            return "its BEGIN line is not right; write five hyphens on each side, as in -----BEGIN PUBLIC KEY-----"
        }
        guard let end = text[begin.range.upperBound...].firstMatch(of: /-----END [A-Z0-9 ]+-----/) else {
            return "its END line is missing or not whole; perhaps it was cut off"
        }
        let body = text[begin.range.upperBound..<end.range.lowerBound].utf8
        if body.contains(UInt8(ascii: "\n")) {
            if text[..<begin.range.lowerBound].last?.isNewline == false {
                return "its lines are indented; remove what stands before them"
            }
            let foreign = body.first { $0 > 0x20 && Base64URL.decodeLeniently([0x41, 0x41, $0]) == nil }
            return foreign.map { "it has “\(Character(UnicodeScalar($0)))” among its base64; remove it" }
        }
        if body.contains(UInt8(ascii: "\r")) { return "its lines end in CR alone; write LF" }
        return body.contains(UInt8(ascii: " "))
            ? "blanks stand in place of its line breaks; write line breaks"
            : "its line breaks are missing; the BEGIN and END lines stand alone"
    }
}

extension KeyError {
    /// The error with what the bytes are in place of that they cannot be read.
    static func unreadable(_ error: KeyError, _ bytes: [UInt8]) -> KeyError {
        switch error {
        case .unreadable, .noKeyInPEM: KeyForm.mistake(in: bytes).map { .unreadable($0) } ?? error
        default: error
        }
    }
}
