import Emulation

/// A kind of credential. Source: documented, the vendor's pages on authentication and `authorization.md` of its SDK.
enum BloomreachCredentialKind: String, Sendable, CaseIterable {
    /// `Token KEY`, or the query `access_token`.
    case publicKey = "public key"
    /// `Basic base64(ID:SECRET)`.
    case privateKey = "private key"
    /// `Bearer JWT` on the paths of a project.
    case customerToken = "customer token"
    /// `Bearer JWT` on the paths of a stream.
    case streamToken = "stream token"
}

/// What a route demands of its caller: one row of the permission matrix.
struct BloomreachAccess: Sendable {
    /// What is taken on the paths of a project.
    let accepted: Set<BloomreachCredentialKind>
    /// What a public key must be allowed to do.
    let permission: BloomreachPermission?
    /// Whether a call without any credential passes, and one without a project to belong to.
    let openness: Openness
    /// Whether a stream asks for a token here even where it asks for few.
    let alwaysNeedsStreamToken: Bool
    /// Whether this is one of the two routes that a project may keep for customer tokens.
    let isAppInbox: Bool

    enum Openness: Sendable {
        /// A credential is needed.
        case closed
        /// A credential may be absent; one that is there is judged in full.
        case credentialOptional
        /// Neither project nor credential is looked at.
        case open
    }

    private init(
        _ accepted: Set<BloomreachCredentialKind>, _ permission: BloomreachPermission?,
        openness: Openness = .closed, alwaysNeedsStreamToken: Bool = false, isAppInbox: Bool = false
    ) {
        self.accepted = accepted
        self.permission = permission
        self.openness = openness
        self.alwaysNeedsStreamToken = alwaysNeedsStreamToken
        self.isAppInbox = isAppInbox
    }

    /// A public key with that permission, or a private key.
    static func keys(_ permission: BloomreachPermission?) -> BloomreachAccess {
        BloomreachAccess([.publicKey, .privateKey], permission)
    }

    /// A public key with that permission.
    static func publicKey(_ permission: BloomreachPermission) -> BloomreachAccess {
        BloomreachAccess([.publicKey], permission)
    }

    /// A public key with that permission, or a customer token.
    static func app(_ permission: BloomreachPermission) -> BloomreachAccess {
        BloomreachAccess([.publicKey, .customerToken], permission)
    }

    /// The app inbox: a public key with its permission, or a customer token; a stream always wants a token.
    static let appInbox = BloomreachAccess(
        [.publicKey, .customerToken], .appinbox, alwaysNeedsStreamToken: true, isAppInbox: true)

    /// Static content: open, but a credential that is sent must be right.
    static let staticContent = BloomreachAccess(
        [.publicKey, .customerToken], .blocks, openness: .credentialOptional)

    /// A private key.
    static let privateKey = BloomreachAccess([.privateKey], nil)

    /// The recommendations of a stream, for whoever holds a token of it.
    static let recommendations = BloomreachAccess([], nil, alwaysNeedsStreamToken: true)

    /// Nothing at all.
    static let open = BloomreachAccess([], nil, openness: .open)
}
