import Emulation
import JSON
import Tokens

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
    func read(_ object: JSONObject) throws(IMSRefusal) -> Reading {
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
            let (text, id) = try body.read {
                ($0.text("pem", atMost: .max), $0.optionalText("kid", atLeast: 1))
            }
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

    private func remote(_ kind: IMSKeySource.Kind, _ body: IMSBody) throws(IMSRefusal) -> IMSKeySource {
        let text = try body.read { $0.text("url", atMost: 2048) }
        let url = try IMSRefusal.require(
            IMSKeyURL(text), .jwksURLNotAllowed, "“\(text)” is not a URL of the kind https://HOST/PATH")
        if let obstacle = obstacle(url) { throw Refusal(.jwksURLNotAllowed, because: obstacle) }
        return IMSKeySource(kind: kind, given: .object(body.object), url: text)
    }

    private func check(_ reader: PublishedKeysReader, _ skipped: [SkippedKey]) throws(IMSRefusal) {
        if reader.isOverfull { throw invalid("there are more than \(PublishedKeysReader.mostKeys) keys") }
        if let id = reader.repeatedID { throw invalid("two keys have the kid \(id)") }
        guard !reader.keys.isEmpty else {
            let what = skipped.phrase.map { ". " + $0 } ?? "; there is no other key either"
            throw invalid("there is no RSA key of 2048 bits or more in it that may verify RS256; expected one\(what)")
        }
    }

    private func invalid(_ why: String) -> IMSRefusal { Refusal(.keySourceInvalid, because: why) }

    // MARK: Forms

    private func pem(_ text: String, id: String?, _ kind: IMSKeySource.Kind) throws(IMSRefusal) -> [VerificationKey] {
        try refusePrivate(text)
        let keys: [VerificationKey]
        do throws(KeyError) {
            keys = try VerificationKey.pem(text, id: id)
        } catch {
            throw error == .privateKey ? Refusal(.privateKeyRefused, because: "found \(error)") : invalid("\(error)")
        }
        guard keys.allSatisfy({ ($0.validity != nil) == kind.isCertified }) else {
            throw invalid("\(kind.rawValue) is for \(kind.isCertified ? "CERTIFICATE" : "PUBLIC KEY") blocks")
        }
        return keys
    }

    /// Also searches the text: a private block must be reported as such even after a broken block.
    private func refusePrivate(_ text: String) throws(IMSRefusal) {
        guard Array(text.utf8).holdsPrivateKey else { return }
        throw Refusal(.privateKeyRefused, because: "the text has a PRIVATE KEY block; expected public keys only")
    }

    /// Reads a JWKS; shared secrets (`oct`) are left out as in a fetched one.
    private func read(_ value: JSON, by reader: inout PublishedKeysReader) throws(IMSRefusal) {
        for (index, key) in (value["keys"]?.array ?? []).enumerated() {
            let names = KeySet.privateMembers(in: key, countsSecrets: false)
            guard names.isEmpty else {
                let name = key["kid"]?.string.map { " “\($0)”" } ?? ""
                throw Refusal(
                    .privateKeyRefused,
                    because:
                        "key \(index)\(name) has the private members \(names.joined(separator: ", ")); expected public ones only"
                )
            }
        }
        do throws(KeyFetchProblem) {
            try reader.read(value)
        } catch .noUsableKey {
            // Reported with the skipped keys.
        } catch {
            throw invalid("\(error)")
        }
    }

    /// Reads a map of ids to certificates. Certificates after a text's first one are its chain, which is not checked.
    ///
    /// - Returns: the members that are not texts, which are left out too.
    private func read(_ map: JSONObject, by reader: inout PublishedKeysReader) throws(IMSRefusal) -> [SkippedKey] {
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
        do throws(KeyFetchProblem) {
            try reader.read(.object(texts))
        } catch .noUsableKey {
            // Reported with the skipped keys.
        } catch {
            throw invalid("\(error)")
        }
        return skipped
    }

    private func file(_ path: String) throws(IMSRefusal) -> JSON {
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
