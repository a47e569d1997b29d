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

/// What a route requires of its caller: one row of the permission matrix.
struct BloomreachAccess: Sendable {
    /// The credentials accepted on the paths of a project.
    let accepted: Set<BloomreachCredentialKind>
    /// The permission that a public key needs.
    let permission: BloomreachPermission?
    /// Whether a call may omit its credential, or its project too.
    let openness: Openness
    /// Whether a stream requires a token here even if it requires few.
    let alwaysNeedsStreamToken: Bool
    /// Whether this is one of the two routes that a project may restrict to customer tokens.
    let isAppInbox: Bool

    enum Openness: Sendable {
        /// A credential is required.
        case closed
        /// A credential may be absent; if present, it is fully verified.
        case credentialOptional
        /// Project and credential are ignored.
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

    /// Static content: open, but a credential must be valid if sent.
    static let staticContent = BloomreachAccess(
        [.publicKey, .customerToken], .blocks, openness: .credentialOptional)

    static let privateKey = BloomreachAccess([.privateKey], nil)

    /// The recommendations of a stream, which require one of its tokens.
    static let recommendations = BloomreachAccess([], nil, alwaysNeedsStreamToken: true)

    /// No requirements.
    static let open = BloomreachAccess([], nil, openness: .open)
}
