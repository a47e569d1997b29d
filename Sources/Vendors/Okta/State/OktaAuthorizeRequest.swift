import Emulation
import JSON

/// What a client asks for at `authorize`, checked: a pushed request and a sign-in keep it until the client is answered.
struct OktaAuthorizeRequest: Sendable, Equatable {
    /// Source: ref.
    enum Prompt: String, CaseIterable, RecordValue { case none, login, consent }

    var clientID = ""
    var serverID = ""
    var redirectURI = ""
    var responseMode = OktaResponseMode.query
    var state = ""
    /// Each once, as requested.
    var scopes: [String] = []
    var nonce: String?
    /// The PKCE challenge (S256).
    var challenge: String?
    var prompts: [Prompt] = []
    /// In seconds.
    var maxAge: Int?
    /// What was sent, in order; unsupported values are kept for the sign-in page.
    var acrValues: [String] = []
    var loginHint: String?
    /// The session token that stands for a user who signed in elsewhere.
    var sessionToken: String?
    /// The `request_uri` under which the client pushed it (RFC 9126); `nil` when it came through the browser.
    var pushedID: String?

    /// The supported value that has to be met: the first one (ours).
    var assurance: OktaAssurance? { acrValues.lazy.compactMap(OktaAssurance.init).first }
}

/// A level of assurance that `acr_values` can ask for. Source: guide:step-up-authentication.
enum OktaAssurance: String, CaseIterable, Sendable {
    case oneFactor = "urn:okta:loa:1fa:any"
    case password = "urn:okta:loa:1fa:pwd"
    case twoFactors = "urn:okta:loa:2fa:any"
    case twoFactorsIfPossible = "urn:okta:loa:2fa:any:ifpossible"
    case phishingResistant = "phr"
    case hardwareProtected = "phrh"
}

extension OktaAuthorizeRequest: CodedRecord, RecordValue {
    mutating func code(_ coder: inout RecordCoder) {
        coder.member("client", &clientID)
        coder.member("server", &serverID)
        coder.member("redirect_uri", &redirectURI)
        coder.member("response_mode", &responseMode, or: .query)
        coder.member("state", &state)
        coder.member("scopes", &scopes)
        coder.member("nonce", &nonce)
        coder.member("challenge", &challenge)
        coder.member("prompts", &prompts, or: [])
        coder.member("max_age", &maxAge, in: Self.ages)
        coder.member("acr_values", &acrValues, or: [])
        coder.member("login_hint", &loginHint)
        coder.member("session_token", &sessionToken)
        coder.member("pushed", &pushedID)
    }

    /// An estimate of the bytes that it takes.
    var memory: Int {
        let texts =
            [redirectURI, state] + scopes + acrValues + [nonce, challenge, loginHint, sessionToken].compactMap { $0 }
        return texts.reduce(400) { $0 + 16 + $1.utf8.count }
    }

    /// What `max_age` may be. Source: codes.
    static let ages = 0...Int(Int32.max)
}
