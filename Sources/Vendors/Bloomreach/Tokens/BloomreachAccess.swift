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
    var openness = Openness.closed
    /// Whether a stream requires a token here even if it requires few.
    var alwaysNeedsStreamToken = false
    /// Whether this is one of the two routes that a project may restrict to customer tokens.
    var isAppInbox = false

    enum Openness: Sendable {
        case closed
        /// A credential may be absent; if present, it is fully verified.
        case credentialOptional
        /// Project and credential are ignored.
        case open
    }

    /// A public key with that permission, or a private key.
    static func keys(_ permission: BloomreachPermission?) -> BloomreachAccess {
        BloomreachAccess(accepted: [.publicKey, .privateKey], permission: permission)
    }

    static func publicKey(_ permission: BloomreachPermission) -> BloomreachAccess {
        BloomreachAccess(accepted: [.publicKey], permission: permission)
    }

    /// A public key with that permission, or a customer token.
    static func app(_ permission: BloomreachPermission) -> BloomreachAccess {
        BloomreachAccess(accepted: [.publicKey, .customerToken], permission: permission)
    }

    /// The app inbox: a public key with its permission, or a customer token; a stream always wants a token.
    static let appInbox = BloomreachAccess(
        accepted: [.publicKey, .customerToken], permission: .appinbox, alwaysNeedsStreamToken: true, isAppInbox: true)

    /// Static content: open, but a credential must be valid if sent.
    static let staticContent = BloomreachAccess(
        accepted: [.publicKey, .customerToken], permission: .blocks, openness: .credentialOptional)

    static let privateKey = BloomreachAccess(accepted: [.privateKey], permission: nil)

    static let recommendations = BloomreachAccess(accepted: [], permission: nil, alwaysNeedsStreamToken: true)

    static let open = BloomreachAccess(accepted: [], permission: nil, openness: .open)
}
