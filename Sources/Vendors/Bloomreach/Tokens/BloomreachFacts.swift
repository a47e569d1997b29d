import Emulation
import JSON
import Tokens
import Wire

/// The sender of a request, as far as known, and what Bloomreach's rules check before they know the body.
struct BloomreachFacts: RuleFacts {
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
    var isStream: Bool { stream != nil }
    var kind: BloomreachCredentialKind? {
        presented.flatMap { $0.authorization.kind(isStream: $0.address?.isStream == true) }
    }

    /// Whether the signing key belongs to another stream.
    var isForeign: Bool {
        guard let stream, let signingKey else { return false }
        return stream.signingKey(signingKey.id) !== signingKey
    }

    init(_ vendor: Bloomreach, _ switches: BloomreachSwitches, at moment: Moment) {
        (self.vendor, self.switches, self.moment) = (vendor, switches, moment)
    }

    mutating func dropExplanations() { vendor = nil }

    /// Finds the likely owner of the token or key.
    var strangers: BloomreachStrangers? {
        guard let accounts else { return nil }
        if let stream { return BloomreachStrangers(accounts: accounts, place: .stream(stream)) }
        return project.map { BloomreachStrangers(accounts: accounts, place: .project($0)) }
    }

    /// Finds the addressed project or stream; a stream uses the data of its project.
    mutating func find(_ address: BloomreachAddress) {
        switch address {
        case .project(let token): project = accounts?.project(token)
        case .stream(let id):
            stream = accounts?.stream(id)
            project = stream?.project
        }
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
