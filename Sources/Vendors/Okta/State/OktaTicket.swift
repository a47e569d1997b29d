import Emulation
import JSON

/// What is redeemed once, before it ends: an authorization code, a session token, half a sign-in.
struct OktaTicket<Content: OktaTicketContent>: Sendable, Equatable {
    /// ours, but for those of codes and session tokens. Source: ref; of challenges guide:configure-direct-auth-grants.
    static var lifetime: Duration { .seconds(300) }

    var id = ""
    var content = Content()
    var expires = Moment(unixSeconds: 0)
    var isUsed = false

    init() {}

    init(_ id: String, for content: Content, at moment: Moment) {
        (self.id, self.content, expires) = (id, content, moment + Self.lifetime)
    }

    /// Why it cannot be redeemed; `nil` if it can.
    func complaint(at moment: Moment) -> String? {
        if isUsed { return "found one that was used" }
        return moment < expires ? nil : "found one that ended at \(expires.rfc3339)"
    }
}

/// What a ticket is for.
protocol OktaTicketContent: CodedRecord, Equatable {
    var memory: Int { get }
}

extension OktaTicketContent {
    var memory: Int { 0 }
}

extension OktaTicket: KeyedRecord, CodedRecord {
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

extension OktaAuthorization: OktaTicketContent {}
extension OktaAuthentication: OktaTicketContent {}

/// What an authorization code stands for.
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
