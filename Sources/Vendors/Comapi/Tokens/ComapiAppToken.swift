import Emulation
import JSON
import Tokens

/// The app's JWT as presented.
final class ComapiAppToken: Sendable {
    let compact: CompactToken
    /// The user that it names in a space, if any.
    let userID: String?
    private let verification = SignatureMemory<ComapiSpace>()

    init(_ text: String, of space: ComapiSpace) {
        compact = CompactToken(text)
        let user = compact.claims?[space.idClaim]?.string ?? ""
        userID = user.utf8.isEmpty ? nil : user
    }

    /// The result of the signature check, cached since it depends only on token and space.
    func signature(by space: ComapiSpace, _ finding: inout Finding?) -> Finding.Outcome {
        verification.outcome(by: space, &finding) {
            compact.signature(by: space.sharedKey.verificationKey, algorithm: .hs256, &$0)
        }
    }

    /// The mistake with this or another secret that explains the signature; `nil` if it is valid.
    func mistake(by space: ComapiSpace, among spaces: [ComapiSpace]) -> ComapiSecretMistake? {
        var nothing: Finding?
        guard signature(by: space, &nothing) == .failed else { return nil }
        return verification.mistake(by: space) {
            ComapiSecretMistake.diagnosis(of: compact, of: space, among: spaces)
        }.map(ComapiSecretMistake.init)
    }
}

/// What the rules for the app's JWT check.
struct ComapiAppFacts: RuleFacts {
    typealias Failure = ComapiFailure

    /// The challenge that is answered.
    struct Challenge {
        let id: String?
        /// `nil` if this space issued no such challenge.
        let known: ComapiChallenge?
        /// What the id might be instead.
        let strangeness: String?
    }

    let switches: ComapiSwitches
    let moment: Moment
    let space: ComapiSpace
    /// Only explains failures; dropped if there are none.
    private var spaces: [ComapiSpace]

    var token: ComapiAppToken?
    /// `nil` for a token without its request.
    var challenge: Challenge?
    var expectedNonce: String?
    /// Another challenge whose nonce the token carries.
    private(set) var otherChallenge: ComapiChallenge?

    var compact: CompactToken? { token?.compact }
    /// The mistake that explains an invalid signature.
    var mistake: ComapiSecretMistake? { token?.mistake(by: space, among: spaces) }
    var isNonceReused: Bool { otherChallenge?.answeredBy != nil && switches.hasSingleUseChallenges }

    /// Whether the token answers the challenge; `nil` if either is missing.
    var hasNonce: Bool? {
        let nonce = compact?.claims?["nonce"]?.string
        return nonce.flatMap { nonce in expectedNonce.map { $0.hasSameBytes(as: nonce) } }
    }

    init(
        _ token: ComapiAppToken?, of space: ComapiSpace, among spaces: [ComapiSpace], _ switches: ComapiSwitches,
        at moment: Moment
    ) {
        (self.token, self.space, self.spaces) = (token, space, spaces)
        (self.switches, self.moment) = (switches, moment)
    }

    mutating func dropExplanations() { spaces = [] }

    mutating func findChallenge(_ id: String?, in state: ComapiState) {
        let named = id.flatMap { state.challenges[$0] }
        let known = named.flatMap { $0.space == space.id ? $0 : nil }
        challenge = Challenge(
            id: id, known: known, strangeness: known == nil ? Self.strangeness(id, named, state) : nil)
        expectedNonce = known?.nonce
        guard hasNonce == false, let nonce = compact?.claims?["nonce"]?.string else { return }
        otherChallenge = state.challenges.challenge(nonce: nonce)
    }

    /// Why the challenge is unknown in this space.
    private static func strangeness(_ id: String?, _ challenge: ComapiChallenge?, _ state: ComapiState) -> String? {
        if let challenge { return "The challenge belongs to API space \(challenge.space.text)." }
        return id.flatMap { state.challenges.challenge(nonce: $0) }
            .map {
                "That is the nonce of challenge \($0.id); the token carries it, and authenticationId is the challenge's."
            }
    }
}
