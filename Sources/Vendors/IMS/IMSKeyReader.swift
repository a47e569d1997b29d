import Emulation
import JSON
import Tokens

/// Reads the object `keys` of an onboarded issuer: a source, and its keys where they are at hand.
///
/// Source: that public keys only are handed over is documented advice (seed); everything else is ours.
struct IMSKeyReader {
    /// ours: a bound of the keys of one source.
    private static let mostKeys = 100

    /// The files that a source may name.
    let fixtures: VendorFixtures
    /// Whether keys may be fetched from a URL; says why not.
    let obstacle: (IMSKeyURL) -> String?

    /// Reads a source.
    ///
    /// - Throws: ``IMSFailure/bodyInvalid``, ``IMSFailure/keySourceInvalid``, ``IMSFailure/privateKeyRefused`` or
    ///   ``IMSFailure/jwksURLNotAllowed``.
    func read(_ object: JSONObject) throws(IMSRefusal) -> (IMSKeySource, [VerificationKey]) {
        let body = IMSBody(object, at: "keys")
        guard let kind = IMSKeySource.Kind(rawValue: try body.requiredText("type")) else {
            throw body.refusal("type", "is none of \(IMSKeySource.Kind.allCases.map(\.rawValue))")
        }
        let isPEM = kind == .certificate || kind == .publicKey
        try body.refuseUnknown(["type", kind.member] + (isPEM ? ["kid"] : []))
        if kind.fetchedForm != nil { return (try remote(kind, body), []) }
        var keys: [VerificationKey]
        switch kind {
        case .certificate, .publicKey:
            keys = try pem(try body.requiredText("pem", atMost: .max), id: try body.text("kid", atLeast: 1), kind)
        case .keySet: keys = try keySet(.object(try body.requiredObject("jwks")))
        case .keySetFile: keys = try keySet(try file(try body.requiredText("file"), body))
        case .certificateMap: keys = try certificates(try body.requiredObject("certs"))
        case .keySetURL, .certificateMapURL: keys = []
        }
        keys = keys.filter { $0.algorithms.contains(.rs256) }.map { $0.limited(to: [.rs256]) }
        try check(keys)
        return (IMSKeySource(kind: kind, given: .object(object), url: nil), keys)
    }

    private func remote(_ kind: IMSKeySource.Kind, _ body: IMSBody) throws(IMSRefusal) -> IMSKeySource {
        let text = try body.requiredText("url", atMost: 2048)
        guard let url = IMSKeyURL(text) else {
            throw Refusal(.jwksURLNotAllowed, because: "“\(text)” is no URL of the kind https://HOST/PATH")
        }
        if let obstacle = obstacle(url) { throw Refusal(.jwksURLNotAllowed, because: obstacle) }
        return IMSKeySource(kind: kind, given: .object(body.object), url: text)
    }

    private func check(_ keys: [VerificationKey]) throws(IMSRefusal) {
        guard !keys.isEmpty else {
            throw invalid("there is no RSA key of 2048 bits or more in it that may verify RS256")
        }
        guard keys.count <= Self.mostKeys else { throw invalid("\(keys.count) keys are more than \(Self.mostKeys)") }
        if let id = KeySet(keys: keys).duplicateIDs.first { throw invalid("two keys have the kid \(id)") }
    }

    private func invalid(_ why: String) -> IMSRefusal { Refusal(.keySourceInvalid, because: why) }

    // MARK: Forms

    private func pem(_ text: String, id: String?, _ kind: IMSKeySource.Kind) throws(IMSRefusal) -> [VerificationKey] {
        try refusePrivate(text)
        let keys: [VerificationKey]
        do throws(KeyError) {
            keys = try VerificationKey.pem(text, id: id)
        } catch {
            throw error == .privateKey ? Refusal(.privateKeyRefused) : invalid("\(error)")
        }
        guard keys.allSatisfy({ ($0.validity != nil) == kind.isCertified }) else {
            throw invalid("\(kind.rawValue) is for \(kind.isCertified ? "CERTIFICATE" : "PUBLIC KEY") blocks")
        }
        return keys
    }

    /// Looked for as text too: a private block must be told as one also behind another one that is broken.
    private func refusePrivate(_ text: String) throws(IMSRefusal) {
        guard Array(text.utf8).holdsPrivateKey else { return }
        throw Refusal(.privateKeyRefused, because: "the text has a PRIVATE KEY block")
    }

    private func keySet(_ value: JSON) throws(IMSRefusal) -> [VerificationKey] {
        let names = KeySet.privateMembers(in: value)
        guard names.isEmpty else {
            throw Refusal(.privateKeyRefused, because: "a key has the private members \(names.joined(separator: ", "))")
        }
        do throws(KeyError) {
            return try KeySet(jwks: value).keys
        } catch {
            throw invalid("\(error)")
        }
    }

    /// A map of ids to certificates. What follows the first certificate of a text is its chain, which nobody checks.
    private func certificates(_ map: JSONObject) throws(IMSRefusal) -> [VerificationKey] {
        if let id = map.duplicateNames.first { throw invalid("two certificates have the kid \(id)") }
        var keys: [VerificationKey] = []
        for member in map {
            guard let text = member.value.string else { continue }
            try refusePrivate(text)
            // Members that hold no usable certificate are skipped, as those of a JWKS are.
            if let key = try? VerificationKey.pem(text, id: member.name).first, key.validity != nil { keys.append(key) }
        }
        return keys
    }

    private func file(_ path: String, _ body: IMSBody) throws(IMSRefusal) -> JSON {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }), !path.utf8.contains(0) else {
            throw invalid("“\(path)” is no path inside of the fixture folder")
        }
        do {
            return try JSON.parse(try fixtures.file(path).bytes)
        } catch {
            throw invalid("\(path): \(error)")
        }
    }
}
