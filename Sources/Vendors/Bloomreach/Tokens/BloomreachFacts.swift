import Emulation
import JSON
import Tokens
import Wire

/// Who sent a request, as far as it says, and what Bloomreach's rules look at before they know the body.
struct BloomreachFacts: RuleFacts {
    typealias Failure = BloomreachFailure

    /// What a request presents.
    struct Presented {
        let route: String
        let access: BloomreachAccess
        let isPost: Bool
        /// The field `Content-Encoding`.
        let coding: String?
        let fields: FieldLines
        /// `nil` on routes that are open to everybody.
        var address: BloomreachAddress?
        var authorization = BloomreachAuthorization.absent
    }

    let switches: BloomreachSwitches
    let moment: Moment
    /// Explains failures alone; let go of where there are none.
    private var vendor: Bloomreach?

    /// `nil` for a token without its request.
    var presented: Presented?
    var bearer: BearerToken?
    var project: BloomreachProject?
    var stream: BloomreachStream?
    var publicKey: BloomreachPublicKey?
    var token: BloomreachToken?
    /// The `kid` of the token as it may be shown.
    var keyID = Fact.absent
    /// The key that the `kid` names, of whatever stream.
    var signingKey: BloomreachSigningKey?

    var accounts: BloomreachAccounts? { vendor?.accounts }
    var compact: CompactToken? { token?.compact }
    var isStream: Bool { stream != nil }
    var kind: BloomreachCredentialKind? {
        presented.flatMap { $0.authorization.kind(isStream: $0.address?.isStream == true) }
    }

    /// Whether the signing key is one of another stream.
    var isForeign: Bool {
        guard let stream, let signingKey else { return false }
        return stream.signingKey(signingKey.id) !== signingKey
    }

    init(_ vendor: Bloomreach, _ switches: BloomreachSwitches, at moment: Moment) {
        (self.vendor, self.switches, self.moment) = (vendor, switches, moment)
    }

    mutating func dropExplanations() { vendor = nil }

    /// Whose token or key it may be.
    var strangers: BloomreachStrangers? {
        guard let accounts else { return nil }
        if let stream { return BloomreachStrangers(accounts: accounts, place: .stream(stream)) }
        return project.map { BloomreachStrangers(accounts: accounts, place: .project($0)) }
    }

    /// Finds the project or the stream that is addressed; a stream uses the data of its project.
    mutating func find(_ address: BloomreachAddress) {
        switch address {
        case .project(let token): project = accounts?.project(token)
        case .stream(let id):
            stream = accounts?.stream(id)
            project = stream?.project
        }
    }

    /// Takes a token, with the key that its `kid` names: one of the project, or of any stream, since a key of another stream
    /// proves the token right and its place wrong.
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
