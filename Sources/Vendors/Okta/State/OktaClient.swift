import Emulation
import JSON
import Tokens

/// An application that is registered with the organization.
struct OktaClient: Sendable {
    /// What kind of application it is. Source: api.
    enum ApplicationType: String, CaseIterable, RecordValue { case web, native, browser, service }

    /// How it authenticates. Source: ref.
    enum Method: String, CaseIterable, RecordValue {
        case none
        case secretBasic = "client_secret_basic"
        case secretPost = "client_secret_post"
        case secretJWT = "client_secret_jwt"
        case privateKeyJWT = "private_key_jwt"
    }

    /// Whether a use of a refresh token yields another one. Source: guide:refresh-tokens.
    enum RotationType: String, CaseIterable, RecordValue { case `static` = "STATIC", rotate = "ROTATE" }

    /// Whether the user is asked for consent. Source: guide:request-user-consent.
    enum ConsentMethod: String, CaseIterable, RecordValue { case trusted = "TRUSTED", required = "REQUIRED" }

    /// How many factors a sign-in of the client needs (ours, in place of sign-on policies).
    enum Assurance: String, CaseIterable, RecordValue { case one = "1fa", two = "2fa" }

    var id = ""
    var name = ""
    var type = ApplicationType.web
    var methods: [Method] = []
    var secret: String?
    var keys: [KeyFile] = []
    var redirectURIs: [String] = []
    var postLogoutURIs: [String] = []
    var grants: [String] = []
    var requiresPKCE = false
    var bindsTokens = false
    var requiresPushedRequests = false
    var rotation: RotationType?
    /// How long a rotated refresh token still works, in seconds.
    var rotationLeeway = 30
    var consentMethod = ConsentMethod.trusted
    var assurance = Assurance.one
    /// Whether people sign in on the page; `nil` for what the switch login-mode says (ours).
    var loginMode: OktaSwitches.LoginMode?
    /// The `okta.*` scopes that it may have at the org server.
    var grantedScopes: [String] = []

    /// Whether it has no secret and no keys.
    var isPublic: Bool { methods == [.none] }

    /// Browser apps rotate unless told otherwise. Source: guide:refresh-tokens.
    var rotates: Bool { (rotation ?? (type == .browser ? .rotate : .static)) == .rotate }

    /// Whether it may use a grant.
    func allows(_ grant: String) -> Bool { grants.contains { $0.hasSameBytes(as: grant) } }
}

extension OktaClient: KeyedRecord, CodedRecord {
    var key: ExactText { ExactText(id) }
    var secretText: String? { secret }

    func clash(over name: Never?) -> String { "another client has the id \(id)" }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("name", &name, or: "")
        coder.member("application_type", &type)
        coder.member("methods", &methods)
        coder.secret("secret", &secret)
        if case .fixture(let fixtures) = coder.form {
            coder.member("keys", &keys, or: [], write: { _ in nil }) { (node) throws(FixtureProblem) in
                var keys: [KeyFile] = []
                for element in try node.elements() { keys.append(try KeyFile(element, fixtures)) }
                return keys
            }
        }
        coder.member("redirect_uris", &redirectURIs, or: [])
        coder.member("post_logout_redirect_uris", &postLogoutURIs, or: [])
        coder.member("grants", &grants)
        coder.member("pkce_required", &requiresPKCE, or: false)
        coder.member("dpop_bound_access_tokens", &bindsTokens, or: false)
        coder.member("require_pushed_authorization_requests", &requiresPushedRequests, or: false)
        codeRotation(&coder)
        coder.member("consent_method", &consentMethod, or: .trusted)
        coder.member("assurance", &assurance, or: .one)
        coder.member("login_mode", &loginMode)
        coder.member("granted_scopes", &grantedScopes, or: [])
        coder.check(!methods.isEmpty, or: "client \(id) has no method of authentication; “none” is one")
        coder.check(
            secret != nil || !methods.contains { [.secretBasic, .secretPost, .secretJWT].contains($0) },
            or: "client \(id) authenticates with a secret and has none")
    }

    private mutating func codeRotation(_ coder: inout RecordCoder) {
        var refresh = Rotation(type: rotation, leeway: rotationLeeway)
        coder.member("refresh_token", &refresh, or: refresh, write: { $0.json(.whole) }) {
            (node) throws(FixtureProblem) in
            var refresh = Rotation()
            try refresh.read(node, .export(.whole))
            return refresh
        }
        (rotation, rotationLeeway) = (refresh.type, refresh.leeway)
    }

    /// The member `refresh_token`. Source: guide:refresh-tokens.
    private struct Rotation: CodedRecord {
        var type: RotationType?
        var leeway = 30

        mutating func code(_ coder: inout RecordCoder) {
            coder.member("rotation_type", &type)
            coder.member("leeway", &leeway, or: 30, in: 0...60)
        }
    }
}

extension OktaSwitches.LoginMode: RecordValue {}
