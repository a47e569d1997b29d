import Emulation
import HTTPTypes
import JSON
import Tokens
import Wire

/// Authentication that needs neither body nor state.
extension Bloomreach {
    func authenticate(_ arrival: BloomreachArrival, _ findings: inout Findings<BloomreachFailure>) -> BloomreachFacts {
        let fields = arrival.request.fields
        var presented = BloomreachFacts.Presented(
            access: arrival.route.access, isPost: arrival.request.method == .post,
            coding: fields[.contentEncoding], fields: fields)
        var facts = BloomreachFacts(self, arrival.switches, at: arrival.moment)
        if presented.access.openness != .open {
            let address = BloomreachAddress(arrival)
            presented.address = address
            presented.authorization = BloomreachAuthorization(arrival)
            facts.find(address)
            take(presented.authorization, fields, &facts)
        }
        facts.presented = presented
        findings.judge(facts, by: Self.callerRules)
        if facts.token != nil, facts.project != nil {
            findings.judge(facts, by: facts.isStream ? Self.streamTokenRules : Self.customerTokenRules)
        }
        return facts
    }

    /// Takes the presented public key or token.
    private func take(_ authorization: BloomreachAuthorization, _ fields: FieldLines, _ facts: inout BloomreachFacts) {
        switch authorization {
        case .publicKey(let key): if !facts.isStream { facts.publicKey = facts.project?.publicKey(key) }
        case .token(let bytes):
            facts.bearer = BearerToken(fields)
            facts.take(recentTokens.reading(of: bytes, BloomreachToken.init(bytes:)))
        case .privateKey, .absent, .malformed: break
        }
    }

    static let requestFacts: [(name: String, about: String)] = [
        ("project", "the project's token in the path"), ("stream", "the stream's id in the path"),
    ]

    /// Judges a token without its request: if nothing names the account, it is that of the key in `kid`.
    func explain(
        _ text: String, knowing context: JSONObject, in setting: TokenSetting<Bloomreach>,
        _ findings: inout Findings<BloomreachFailure>
    ) -> (kind: String?, account: String?) {
        let token = BloomreachToken(text)
        var facts = BloomreachFacts(self, setting.switches, at: setting.moment)
        facts.stream = stream(of: token, context)
        if facts.stream == nil { facts.project = project(of: token, context) }
        facts.take(token)
        findings.judge(facts, by: facts.isStream ? Self.streamTokenRules : Self.customerTokenRules)
        let owner = facts.stream.map { "stream \($0.id)" } ?? "project \(facts.project?.token ?? "")"
        let signer = (facts.stream?.signingKeys ?? facts.project?.privateKeys)?.first {
            token.compact.isSigned(by: $0.secret)
        }
        return (
            token.compact.claims == nil ? nil : facts.isStream ? "stream-token" : "customer-token",
            signer.map { "\(owner), key \($0.id)" }
        )
    }

    /// The stream to assume: the named one, or that of the key; any stream if the claims are those of a stream's token.
    private func stream(of token: BloomreachToken, _ context: JSONObject) -> BloomreachStream? {
        if let named = context["stream"]?.string { return accounts.stream(named) }
        if context["project"] != nil { return nil }
        let owner = token.keyID.flatMap { id in accounts.streams.first { $0.signingKey(id) != nil } }
        if let owner { return owner }
        guard token.compact.claims?["ids"] != nil, token.compact.claims?["sub"] == nil else { return nil }
        return accounts.streams.first
    }

    private func project(of token: BloomreachToken, _ context: JSONObject) -> BloomreachProject {
        let named = context["project"]?.string.flatMap(accounts.project)
        let owner = token.keyID.flatMap { id in accounts.projects.first { $0.privateKey(id) != nil } }
        // The fixtures have at least one.
        return named ?? owner ?? accounts.projects[0]
    }
}

/// The credential in `Authorization`, or in the query if the header is absent.
enum BloomreachAuthorization: Sendable {
    /// `Token KEY`, or `access_token=KEY`.
    case publicKey(String)
    /// `Basic`, decoded.
    case privateKey(id: String, secret: String)
    /// `Bearer JWT`.
    case token(ArraySlice<UInt8>)
    case absent
    /// An unreadable credential, described without secrets.
    case malformed(String)

    /// Reads a request. Scheme names are case-insensitive; whitespace around the value is trimmed (ours).
    init(_ arrival: BloomreachArrival) {
        guard let value = arrival.request.fields.bytes(of: .authorization) else {
            let key = arrival.queryValue("access_token")
            self = key.map { $0.isEmpty ? .malformed("an empty access_token") : .publicKey($0) } ?? .absent
            return
        }
        let trimmed = Self.trim(value)
        let scheme = trimmed.prefix { $0 != UInt8(ascii: " ") }
        let rest = Self.trim(trimmed[scheme.endIndex...])
        let name = String(decoding: scheme, as: UTF8.self).lowercased()
        guard !rest.isEmpty else {
            self = .malformed(["token", "bearer", "basic"].contains(name) ? "nothing after \(name)" : "no scheme")
            return
        }
        switch name {
        case "token": self = .publicKey(String(decoding: rest, as: UTF8.self))
        case "bearer": self = .token(rest)
        case "basic": self = Self.pair(rest)
        default: self = .malformed("an unknown scheme")
        }
    }

    func kind(isStream: Bool) -> BloomreachCredentialKind? {
        switch self {
        case .publicKey: .publicKey
        case .privateKey: isStream ? .secretKey : .privateKey
        case .token: isStream ? .streamToken : .customerToken
        case .absent, .malformed: nil
        }
    }

    private static func pair(_ text: ArraySlice<UInt8>) -> BloomreachAuthorization {
        guard let pair = BasicCredentials(text), let secret = pair.secret else {
            return .malformed(BasicCredentials.mistake(in: text))
        }
        return .privateKey(id: pair.id, secret: secret)
    }

    private static func trim(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }
}

/// The target of a request: a project or a stream.
struct BloomreachAddress: Sendable {
    let isStream: Bool
    /// The token or id as sent.
    let text: String

    /// Reads path and query. An absent project token or stream id counts as empty.
    ///
    /// The self-check names either in `project_id`, since the vendor's pages show its project form with a stream id;
    /// the accounts decide which one it is.
    init(_ arrival: Arrival<Bloomreach>) {
        let parameters = arrival.parameters
        let isSelfCheck = arrival.route.access.permission == .selfcheck
        if !parameters["project"].isEmpty {
            (isStream, text) = (false, parameters["project"])
        } else if !parameters["stream"].isEmpty {
            (isStream, text) = (true, parameters["stream"])
        } else if isSelfCheck, let project = arrival.queryValue("project_id") {
            (isStream, text) = (arrival.vendor.accounts.stream(project) != nil, project)
        } else if let stream = arrival.queryValue("stream_id") {
            (isStream, text) = (true, stream)
        } else {
            (isStream, text) = (!isSelfCheck, "")
        }
    }

    /// Whether a text can be a project token or a stream id. Source: observed, both SDKs reject others.
    static func isWellFormed(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") }
    }
}

/// The sender of a request, as far as known, and what Bloomreach's rules check before they know the body.
struct BloomreachFacts: SecretFacts {
    typealias Failure = BloomreachFailure

    struct Presented {
        let access: BloomreachAccess
        let isPost: Bool
        /// The field `Content-Encoding`.
        let coding: String?
        let fields: FieldLines
        /// `nil` on routes that are open to everyone.
        var address: BloomreachAddress?
        var authorization = BloomreachAuthorization.absent
    }

    let switches: BloomreachSwitches
    let moment: Moment
    /// Only explains failures; dropped if there are none.
    private var vendor: Bloomreach?

    /// `nil` for a token without its request.
    var presented: Presented?
    var bearer: BearerToken?
    var project: BloomreachProject?
    var stream: BloomreachStream?
    var publicKey: BloomreachPublicKey?
    var token: BloomreachToken?
    /// The token's `kid` for display.
    var keyID = Fact.absent
    /// The key that `kid` names, of any stream.
    var signingKey: BloomreachSigningKey?

    var accounts: BloomreachAccounts? { vendor?.accounts }
    var compact: CompactToken? { token?.compact }
    var secret: SecretKey? { signingKey?.secret }
    var otherSecrets: [SecretKey] { (accounts?.signingKeys ?? []).map(\.secret) }
    var leewaySeconds: Int { switches.leewaySeconds }
    var isStream: Bool { stream != nil }
    /// The customer for whom the token speaks.
    var ids: BloomreachIDs? { token?.ids(isStream ? "ids" : "sub") }
    var kind: BloomreachCredentialKind? {
        presented.flatMap { $0.authorization.kind(isStream: $0.address?.isStream == true) }
    }

    /// Whether keys are checked: only if the request names a known project.
    var acceptsKeys: Bool { project != nil && presented?.address?.isStream == false }

    /// Whether the signing key belongs to another stream.
    var isForeign: Bool {
        guard let stream, let signingKey else { return false }
        return stream.signingKey(signingKey.id) !== signingKey
    }

    init(_ vendor: Bloomreach, _ switches: BloomreachSwitches, at moment: Moment) {
        (self.vendor, self.switches, self.moment) = (vendor, switches, moment)
    }

    mutating func dropExplanations() { vendor = nil }

    /// Where the owner of an unknown token or key is looked for; `nil` if the request names no known account either.
    var strangers: BloomreachAccounts? { stream == nil && project == nil ? nil : accounts }

    /// What must have signed a token here.
    var expectedKey: String {
        stream.map { "signing key of stream \($0.id)" } ?? "private key of project \(project?.token ?? "")"
    }

    /// Finds the addressed project or stream; a stream uses the data of its project.
    mutating func find(_ address: BloomreachAddress) {
        if address.isStream { stream = accounts?.stream(address.text) }
        project = address.isStream ? stream?.project : accounts?.project(address.text)
    }

    /// Takes a token with the key that its `kid` names: one of the project, or of any stream, since a key of another
    /// stream proves that the token is valid but sent to the wrong stream.
    mutating func take(_ token: BloomreachToken) {
        self.token = token
        guard let accounts else { return }
        keyID = accounts.shown(keyID: token.keyID)
        guard let id = token.keyID else { return }
        if let stream {
            signingKey = stream.signingKey(id) ?? accounts.streams.lazy.compactMap { $0.signingKey(id) }.first
        } else {
            signingKey = project?.privateKey(id)
        }
    }
}

/// A token as Bloomreach reads it; its members are not yet verified.
final class BloomreachToken: Sendable {
    let compact: CompactToken
    /// The `kid` of the header, which names the signing key.
    let keyID: String?

    init(bytes: [UInt8]) {
        compact = CompactToken(bytes: bytes)
        keyID = compact.header?["kid"]?.string
    }

    convenience init(_ text: String) { self.init(bytes: Array(text.utf8)) }

    /// The customer ids in a claim; `nil` unless it is a non-empty map of names to texts.
    func ids(_ claim: String) -> BloomreachIDs? { compact.claims?[claim].flatMap(BloomreachIDs.init(claim:)) }
}

extension BloomreachIDs {
    /// The ids in a claim, used for both reading and minting; `nil` unless it maps names to non-empty texts and names a
    /// customer.
    init?(claim: JSON) {
        guard let object = claim.object, object.allSatisfy({ $0.value.string?.isEmpty == false }),
            let ids = try? BloomreachIDs(claim), !ids.isEmpty
        else { return nil }
        self = ids
    }
}

/// Identifies credentials sent in the wrong place, without repeating any secret.
extension BloomreachAccounts {
    /// What a token's `kid` names instead of a key that may sign here, and whose key made the signature.
    func note(onKeyOf token: BloomreachToken, _ algorithm: Algorithm) -> String? {
        guard let id = token.keyID else { return token.compact.header?["kid"] == nil ? nil : "kid is not a string." }
        if let project = holder(ofPublicKey: id) {
            return "That is a public key of project \(project.token); it signs nothing."
        }
        if let key = signingKey(id) { return "That is the \(key.phrase)." }
        let signer = signingKeys.first { key in
            [algorithm, .hs256, .hs512].contains { token.compact.isSigned(by: key.secret.verification, algorithm: $0) }
        }
        return signer.map { "Nobody has a key of that id; the signature matches the \($0.phrase)." }
            ?? "Nobody has a key of that id\(Nearest.hint(to: id, among: signingKeys.map(\.id)))."
    }

    /// What was sent instead of a token.
    func note(onToken text: String) -> String? {
        if let project = holder(ofPublicKey: text) {
            return "This is a public key of project \(project.token); it is sent as Token KEY, and a JWT as Bearer JWT."
        }
        if let key = signingKey(text) {
            return "This is the id of a key, the \(key.phrase); a token is signed with it."
        }
        if let key = signingKeys.first(where: { $0.secret.text.hasSameBytes(as: text) }) {
            return "This is the secret of the \(key.phrase); it signs tokens and is never sent."
        }
        return isPair(text) ? "This is ID:SECRET in base64; it is sent as Basic." : nil
    }

    /// What was sent instead of a public key of the project. Unknown text is not repeated: it may be a misplaced
    /// secret.
    func owner(ofPublicKey key: String) -> String {
        if key.hasPrefix("eyJ"), key.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2 {
            return "a JWT, which is sent as Bearer JWT"
        }
        if key.hasPrefix("Token ") { return "a key with Token before it twice" }
        if project(key) != nil { return "the token of project \(key)" }
        if stream(key) != nil { return "the id of stream \(key)" }
        let owner = owner(of: key) ?? "a key that nobody has"
        return owner + (owner.hasPrefix("the secret") ? ", which is never sent" : "")
    }

    /// What was sent as the secret of a private key.
    func shown(secret: String) -> Fact {
        .text(secret.isEmpty ? "an empty secret" : owner(of: secret) ?? "another text")
    }

    /// Which credential a text is, perhaps but for details.
    func owner(of text: String) -> String? {
        if let project = holder(ofPublicKey: text) { return "a public key of \(project.token)" }
        if let key = signingKey(text) { return "the id of the \(key.phrase)" }
        if let key = signingKeys.first(where: { $0.secret.text.hasSameBytes(as: text) }) {
            return "the secret of the \(key.phrase)"
        }
        if isPair(text) { return "ID:SECRET in base64, which is sent as Basic" }
        return (projects.flatMap(\.publicKeys).map(\.key) + signingKeys.map(\.id)).lazy.compactMap { near in
            Nearest.difference(text, near).map { "a text like \(near) (\($0))" }
        }.first
    }

    /// Whether a text is what follows `Basic` for a key that somebody has.
    private func isPair(_ text: String) -> Bool {
        BasicCredentials(Array(text.utf8)[...]).flatMap { signingKey($0.id) } != nil
    }

    /// What a path names instead of a project or a stream; `nil` if unknown.
    func stranger(at address: BloomreachAddress) -> String? {
        let text = address.text
        if address.isStream, project(text) != nil {
            return "That is the token of a project, whose paths have projects/\(text)."
        }
        if !address.isStream, stream(text) != nil {
            return "That is the id of a stream, whose paths have streams/\(text) or stream_id=\(text)."
        }
        let known = address.isStream ? streams.map(\.id) : projects.map(\.token)
        return Nearest.names(to: text, among: known, count: 1).first.map { "Did you mean “\($0)”?" }
    }
}
