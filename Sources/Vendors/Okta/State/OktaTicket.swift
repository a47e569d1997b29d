import Emulation
import JSON
import Tokens

/// What is redeemed once, before it ends: an authorization code, a session token, half a sign-in.
struct OktaTicket<Content: OktaTicketContent>: Sendable, Equatable, KeyedRecord, CodedRecord {
    /// ours, but for those of codes and session tokens. Source: ref; of challenges guide:configure-direct-auth-grants.
    static var lifetime: Duration { .seconds(300) }

    var id = ""
    var content = Content()
    var expires = Moment(unixSeconds: 0)
    var isUsed = false

    /// Why it cannot be redeemed; `nil` if it can.
    func complaint(at moment: Moment) -> String? {
        if isUsed { return "found one that was used" }
        return moment < expires ? nil : "found one that ended at \(expires.rfc3339)"
    }

    var key: ExactText { ExactText(id) }
    var secretText: String? { id }
    var memory: Int { content.memory }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        content.code(&coder)
        coder.end("expires", &expires)
        coder.member("used", &isUsed, or: false)
    }
}

extension OktaTicket {
    init(_ id: String, for content: Content, at moment: Moment) {
        self.init(id: id, content: content, expires: moment + Self.lifetime)
    }
}

protocol OktaTicketContent: CodedRecord, Equatable {
    var memory: Int { get }
}

extension OktaTicketContent {
    var memory: Int { 0 }
}

extension OktaAuthorization: OktaTicketContent {}
extension OktaAuthentication: OktaTicketContent {}

struct OktaCode: OktaTicketContent {
    var authorization = OktaAuthorization()
    var redirectURI = ""
    /// The PKCE challenge (S256); `nil` when the client sent none.
    var challenge: String?
    /// The grant made from it; `nil` while it is unused.
    var grant: Int?

    var memory: Int { authorization.memory + redirectURI.utf8.count + (challenge?.utf8.count ?? 0) }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("authorization", &authorization)
        coder.member("redirect_uri", &redirectURI)
        coder.member("challenge", &challenge)
        coder.member("grant", &grant, in: 1...Ordinal.largest)
    }
}

/// An authorization request that a client pushed (RFC 9126).
struct OktaPushedRequest: Sendable, Equatable, KeyedRecord, CodedRecord {
    /// ours: the newest of a sandbox are kept, as far as they fit into memory.
    static let bound = RecordBound(count: 1000, bytes: 8 << 20, share: nil)

    var request = OktaAuthorizeRequest()
    var expires = Moment(unixSeconds: 0)
    /// Whether the client has got a code or an error for it.
    var isUsed = false

    /// The `request_uri`.
    var id: String { request.pushedID ?? "" }

    /// A new `request_uri`. Its form is inferred: Okta's example decodes to such a text (ref).
    static func newID(_ identifiers: IdentifierSource) -> String {
        "urn:okta:" + Base64URL.encode(Array("\(identifiers.opaque(ofLength: 43)):".utf8))
    }

    var key: ExactText { ExactText(id) }
    var memory: Int { request.memory }
    var secretText: String? { request.sessionToken }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("request", &request)
        coder.end("expires", &expires)
        coder.member("used", &isUsed, or: false)
        coder.check(request.pushedID != nil, or: "the request has no member pushed, which is its request_uri")
    }
}

/// An id that may be used once, such as the `jti` of an assertion, or that of a revoked token.
struct OktaUsedID: Sendable, Equatable, KeyedRecord, CodedRecord {
    enum Kind: String, CaseIterable, RecordValue { case assertion, proof, ssws, revocation }

    struct Key: Hashable, Sendable, CustomStringConvertible {
        let kind: Kind
        let owner: ExactText
        let id: ExactText

        var description: String { JSON.array([kind.written, owner.json, id.json]).text }
    }

    var kind = Kind.assertion
    /// The owner of the id: a client, a key's thumbprint, a factor.
    var owner = ""
    var id = ""
    /// When it need not be remembered any more.
    var until = Moment(unixSeconds: 0)

    var key: Key { Key(kind: kind, owner: ExactText(owner), id: ExactText(id)) }

    func clash(over name: Never?) -> String { "\(id) occurs twice" }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("kind", &kind)
        coder.member("owner", &owner)
        coder.member("id", &id)
        coder.end("until", &until)
    }
}

/// A nonce that proofs repeat, so that they cannot be made long before they are used (RFC 9449 section 8).
struct OktaProofNonce: Sendable, Equatable, KeyedRecord, CodedRecord {
    /// How long it is the current one. Source: guide:dpop.
    static let renewal = Duration.seconds(24 * 3600)
    /// How long it is accepted. Source: guide:dpop.
    static let lifetime = Duration.seconds(3 * 24 * 3600)
    /// ours: four are valid at a time, unless the clock is moved back and forth.
    static let bound = RecordBound(count: 8, share: nil)

    var id = ""
    var issued = Moment(unixSeconds: 0)

    var key: ExactText { ExactText(id) }

    func clash(over name: Never?) -> String { "the nonce \(id) occurs twice" }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("issued", &issued)
    }
}

extension OktaState {
    /// The nonces that are valid at a moment, the newest one last.
    func goodNonces(at moment: Moment) -> [OktaProofNonce] {
        proofNonces.all.filter { moment < $0.issued + OktaProofNonce.lifetime }
    }

    /// The nonces that are valid at a moment, the current one last.
    mutating func proofNonces(at moment: Moment, _ identifiers: IdentifierSource) -> [String] {
        var good = goodNonces(at: moment)
        if let newest = good.last, moment < newest.issued + OktaProofNonce.renewal { return good.map(\.id) }
        // Source of the length: guide:dpop.
        let nonce = OktaProofNonce(id: identifiers.opaque(ofLength: 32), issued: moment)
        proofNonces.add(nonce, within: OktaProofNonce.bound)
        good.append(nonce)
        return good.map(\.id)
    }
}
