import Emulation
import JSON
import Tokens

/// Where the keys of an issuer come from, as it was onboarded.
struct IMSKeySource: Sendable, Hashable {
    /// The ways to provide keys. Source: certificate and JWKS URL are documented (security page), the others ours.
    enum Kind: String, Sendable, CaseIterable {
        case certificate = "pem-certificate"
        case publicKey = "pem-public-key"
        case keySet = "jwks"
        case keySetFile = "jwks-file"
        case keySetURL = "jwks-url"
        case certificateMap = "cert-map"
        case certificateMapURL = "cert-map-url"

        /// The member that holds the keys or their location.
        var member: String {
            switch self {
            case .certificate, .publicKey: "pem"
            case .keySet: "jwks"
            case .keySetFile: "file"
            case .keySetURL, .certificateMapURL: "url"
            case .certificateMap: "certs"
            }
        }

        /// The form of fetched content; `nil` for local keys.
        var fetchedForm: RemoteKeys.Form? {
            switch self {
            case .keySetURL: .keySet
            case .certificateMapURL: .certificates
            case .certificate, .publicKey, .keySet, .keySetFile, .certificateMap: nil
            }
        }

        /// Whether the keys come in certificates.
        var isCertified: Bool { self == .certificate || self == .certificateMap || self == .certificateMapURL }
    }

    let kind: Kind
    /// The object `keys` as given, for exports; public parts only. Text takes a tenth of the memory of a tree.
    private let text: [UInt8]
    /// Where the keys are fetched; `nil` for local keys.
    let url: String?

    init(kind: Kind, given: JSON, url: String?) {
        (self.kind, self.url) = (kind, url)
        text = given.bytes
    }

    /// The source of keys in PEM that tests have read; `nil` for any other.
    init?(unread object: JSONObject) {
        guard let kind = object["type"]?.string.flatMap(Kind.init), kind.member == "pem" else { return nil }
        self.init(kind: kind, given: .object(object), url: nil)
    }

    var given: JSON {
        // This server wrote it, so it parses.
        (try? JSON.parse(text, maximumDepth: JSON.keptDepth)) ?? .null
    }

    var byteCount: Int { text.count }

    /// The keys to fetch for the issuer with that name, none requested yet; `nil` for local keys.
    func remoteKeys(of issuer: String) -> RemoteKeys? {
        guard let url, let form = kind.fetchedForm else { return nil }
        return RemoteKeys(issuer: issuer, url: url, form: form, algorithm: .rs256)
    }
}

/// Reads the object `keys` of an onboarded issuer: a source, and its keys if they are local.
///
/// Source: providing public keys only is documented advice (security page); everything else is ours.
struct IMSKeyReader {
    struct Reading {
        let source: IMSKeySource
        /// The usable keys; empty for a source that is fetched.
        var keys: [VerificationKey] = []
        var skipped: [SkippedKey] = []
    }

    /// The files that a source may name.
    let fixtures: VendorFixtures
    /// Returns why keys may not be fetched from a URL; `nil` if they may.
    let obstacle: (IMSKeyURL) -> String?

    /// Reads a source.
    ///
    /// - Throws: ``IMSFailure/bodyInvalid``, ``IMSFailure/keySourceInvalid``, ``IMSFailure/privateKeyRefused`` or
    ///   ``IMSFailure/jwksURLNotAllowed``.
    func read(_ object: JSONObject) throws(IMS.Refused) -> Reading {
        let body = IMSBody(object, at: "keys")
        let kind = try body.read { body in
            _ = body.text("type")
            let kind = body.choice("type", of: IMSKeySource.Kind.self) ?? .keySet
            let isPEM = kind == .certificate || kind == .publicKey
            body.refuseUnknown(["type", kind.member] + (isPEM ? ["kid"] : []))
            return kind
        }
        if kind.fetchedForm != nil { return Reading(source: try remote(kind, body)) }
        var reader = PublishedKeysReader(form: kind.isCertified ? .certificates : .keySet, algorithm: .rs256)
        var (given, skipped): (JSONObject, [SkippedKey]) = (object, [])
        switch kind {
        case .certificate, .publicKey:
            let (text, id) = try body.read { ($0.text("pem", atMost: .max), $0.optionalText("kid", atLeast: 1)) }
            for key in try pem(text, id: id, kind) { reader.take(key) }
        case .keySet:
            let set = JSON.object(try body.read { $0.object("jwks", isRequired: true) ?? [:] })
            try read(set, by: &reader)
            given["jwks"] = KeySet.withoutSecrets(set)
        case .keySetFile: try read(try file(try body.read { $0.text("file") }), by: &reader)
        case .certificateMap:
            skipped = try read(try body.read { $0.object("certs", isRequired: true) ?? [:] }, by: &reader)
        case .keySetURL, .certificateMapURL: break
        }
        skipped += reader.skipped
        try check(reader, skipped)
        return Reading(
            source: IMSKeySource(kind: kind, given: .object(given), url: nil), keys: reader.keys, skipped: skipped)
    }

    private func remote(_ kind: IMSKeySource.Kind, _ body: IMSBody) throws(IMS.Refused) -> IMSKeySource {
        let text = try body.read { $0.text("url", atMost: 2048) }
        let url = try IMS.Refused.require(
            IMSKeyURL(text), .jwksURLNotAllowed, "“\(text)” is not a URL of the kind https://HOST/PATH")
        if let obstacle = obstacle(url) { throw IMS.Refused(.jwksURLNotAllowed, because: obstacle) }
        return IMSKeySource(kind: kind, given: .object(body.object), url: text)
    }

    private func check(_ reader: PublishedKeysReader, _ skipped: [SkippedKey]) throws(IMS.Refused) {
        if reader.isOverfull { throw invalid("there are more than \(PublishedKeysReader.mostKeys) keys") }
        if let id = reader.repeatedID { throw invalid("two keys have the kid \(id)") }
        guard !reader.keys.isEmpty else {
            let what = skipped.phrase.map { ". " + $0 } ?? "; there is no other key either"
            throw invalid("there is no RSA key of 2048 bits or more in it that may verify RS256; expected one\(what)")
        }
    }

    private func invalid(_ why: String) -> IMS.Refused { IMS.Refused(.keySourceInvalid, because: why) }

    // MARK: Forms

    private func pem(_ text: String, id: String?, _ kind: IMSKeySource.Kind) throws(IMS.Refused) -> [VerificationKey] {
        try refusePrivate(text)
        let keys: [VerificationKey]
        do throws(KeyError) {
            keys = try VerificationKey.pem(text, id: id)
        } catch {
            throw error == .privateKey
                ? IMS.Refused(.privateKeyRefused, because: "found \(error)") : invalid("\(error)")
        }
        guard keys.allSatisfy({ ($0.validity != nil) == kind.isCertified }) else {
            let (own, other) = kind.isCertified ? ("CERTIFICATE", "PUBLIC KEY") : ("PUBLIC KEY", "CERTIFICATE")
            let right = kind.isCertified ? IMSKeySource.Kind.publicKey : .certificate
            throw invalid(
                "found a \(other) block, and \(kind.rawValue) is for \(own) blocks; expected type \(right.rawValue)")
        }
        return keys
    }

    /// Also searches the text: a private block must be reported as such even after a broken block.
    private func refusePrivate(_ text: String) throws(IMS.Refused) {
        guard Array(text.utf8).holdsPrivateKey else { return }
        throw IMS.Refused(.privateKeyRefused, because: "the text has a PRIVATE KEY block; expected public keys only")
    }

    /// Reads a JWKS; shared secrets (`oct`) are left out as in a fetched one.
    private func read(_ value: JSON, by reader: inout PublishedKeysReader) throws(IMS.Refused) {
        for (index, key) in (value["keys"]?.array ?? []).enumerated() {
            let names = KeySet.privateMembers(in: key, countsSecrets: false)
            guard names.isEmpty else {
                let name = key["kid"]?.string.map { " “\($0)”" } ?? ""
                throw IMS.Refused(
                    .privateKeyRefused,
                    because: "key \(index)\(name) has the private members \(names.joined(separator: ", ")); expected "
                        + "public ones only")
            }
        }
        try take(value, by: &reader)
    }

    /// Reads a map of ids to certificates. Certificates after a text's first one are its chain, which is not checked.
    ///
    /// - Returns: the members that are not texts, which are left out too.
    private func read(_ map: JSONObject, by reader: inout PublishedKeysReader) throws(IMS.Refused) -> [SkippedKey] {
        if let id = map.duplicateNames.first { throw invalid("two certificates have the kid \(id)") }
        var texts = JSONObject()
        var skipped: [SkippedKey] = []
        for member in map {
            guard let text = member.value.string else {
                skipped.append(
                    SkippedKey("“\(member.name.prefix(100))”: a JSON \(member.value.typeName), not a PEM text"))
                continue
            }
            try refusePrivate(text)
            texts[member.name] = member.value
        }
        try take(.object(texts), by: &reader)
        return skipped
    }

    private func take(_ published: JSON, by reader: inout PublishedKeysReader) throws(IMS.Refused) {
        do throws(KeyFetchProblem) {
            try reader.read(published)
        } catch .noUsableKey {
            // Reported with the skipped keys.
        } catch {
            throw invalid("\(error)")
        }
    }

    private func file(_ path: String) throws(IMS.Refused) -> JSON {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }), !path.utf8.contains(0) else {
            throw invalid("“\(path)” is not a path inside of the fixture folder")
        }
        do {
            return try JSON.parse(try fixtures.file(path).bytes)
        } catch {
            throw invalid("\(path): \(error)")
        }
    }
}

/// A URL at which an issuer publishes keys, parsed only far enough to decide whether to fetch from it.
///
/// Source: which URLs are allowed is ours. It accepts less than RFC 3986: anything that two parsers might read as two
/// different hosts (user names, backslashes, short and hexadecimal addresses) is rejected.
struct IMSKeyURL: Sendable, Hashable {
    let isSecure: Bool
    /// The host in lower case, an IPv6 address without its brackets; empty for this server, in the caller's sandbox.
    let host: String

    init?(_ text: String) {
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !text.utf8.contains(where: { "\\#\"<>".utf8.contains($0) })
        else { return nil }
        if text.hasPrefix(KeyRequest.ownServer) {
            guard text.dropFirst(KeyRequest.ownServer.count).hasPrefix("/") else { return nil }
            (isSecure, host) = (true, "")
            return
        }
        let lower = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lower.hasPrefix),
            let host = Self.host(in: lower.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" })
        else { return nil }
        (isSecure, self.host) = (scheme == "https://", host)
    }

    private static func host(in authority: Substring) -> String? {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]"), isPort(authority[authority.index(after: end)...]) else {
                return nil
            }
            let address = authority[..<end].dropFirst()
            let isAddress = !address.isEmpty && address.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
            return isAddress ? String(address) : nil
        }
        let host = authority.prefix { $0 != ":" }
        guard !host.isEmpty, isPort(authority[host.endIndex...]),
            host.utf8.allSatisfy({ $0.isLowercase || $0.isDigit || "-._".utf8.contains($0) })
        else { return nil }
        return String(host)
    }

    /// Nothing, or a colon and a port.
    private static func isPort(_ text: Substring) -> Bool {
        if text.isEmpty { return true }
        let digits = text.dropFirst()
        return text.first == ":" && digits.utf8.allSatisfy(\.isDigit)
            && Int(digits).map { (1...65_535).contains($0) } == true
    }

    /// Whether the host is this machine: `127.0.0.0/8`, `::1`, `localhost` and its subdomains.
    var isLoopback: Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127"
            && parts.allSatisfy { part in
                // Some parsers read a leading zero as octal.
                guard let number = UInt8(part) else { return false }
                return String(number) == part
            }
    }

    /// Why keys are not fetched from there; `nil` when they may be.
    ///
    /// A host allowed without TLS is also allowed with it (ours), so that it need not be listed twice.
    ///
    /// - Parameter named: the hosts of key URLs in the fixtures.
    func obstacle(_ switches: IMSSwitches, named: Set<String>) -> String? {
        if host.isEmpty || isLoopback { return nil }
        let isPlainAllowed = switches.allowedPlainHosts.contains(host)
        guard isPlainAllowed || named.contains(host) || switches.allowedHosts.contains(host) else {
            return
                "the host \(host) is neither this machine nor named in a fixture or in switch jwks-allow; expected one of them"
        }
        guard isSecure || isPlainAllowed else {
            return
                "http is for this machine and for hosts in switch jwks-allow-http; \(host) needs https; expected that"
        }
        return nil
    }
}
