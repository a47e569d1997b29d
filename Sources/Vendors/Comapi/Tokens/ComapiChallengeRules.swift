import Emulation
import JSON
import Tokens

/// The answer to a challenge, judged in the order of the spec (section 2.2).
///
/// Source: single use and the meaning of the nonce: Android SDK and JWT page; order and lifetime are ours.
struct ComapiChallengeRules {
    let space: ComapiSpace
    let state: ComapiState
    let switches: ComapiSwitches
    let moment: Moment

    func judge(_ answer: ComapiChallengeAnswer, _ findings: inout Findings<ComapiFailure>) {
        var own = Findings<ComapiFailure>()
        let challenge = answer.authenticationID.flatMap { state.challenges[$0] }
        judgeChallenge(answer.authenticationID, challenge, &own)
        if let token = answer.token {
            for finding in token.signed.all { own.add(finding, orFail: token.signed.failure ?? .malformedToken) }
            judgeNonce(token.compact, challenge, &own)
            for finding in token.claimed.all { own.add(finding, orFail: token.claimed.failure ?? .malformedTime) }
        } else {
            own.note(Finding("token", .notJudged, expected: .text("a compact JWT")))
        }
        take(own, &findings, answer.refusal)
    }

    /// A body that cannot be used is refused by the handler, which knows the parameters of the answer; until then nothing
    /// else may decide.
    private func take(
        _ own: Findings<ComapiFailure>, _ findings: inout Findings<ComapiFailure>, _ refusal: ComapiRefusal?
    ) {
        if refusal == nil, let failure = own.failure {
            for finding in own.all { findings.add(finding, orFail: failure) }
        } else {
            for finding in own.all { findings.note(refusal == nil ? finding : finding.noted) }
        }
    }

    private func judgeChallenge(
        _ id: String?, _ challenge: ComapiChallenge?, _ findings: inout Findings<ComapiFailure>
    ) {
        let known = challenge.flatMap { $0.space == space.id ? $0 : nil }
        findings.add(
            Finding(
                "challenge-known", id == nil ? .notJudged : known == nil ? .failed : .passed,
                expected: .text("the authenticationId of a challenge of this API space"), found: id.map(Fact.text),
                note: known == nil ? strangeness(id, challenge) : nil,
                source: "ours"),
            orFail: .unknownAuthentication)
        let isAnswered = known?.answeredBy != nil
        findings.add(
            Finding(
                "challenge-unanswered",
                known == nil ? .notJudged : !isAnswered ? .passed : switches.hasSingleUseChallenges ? .failed : .noted,
                expected: .text("a challenge that was not answered before"),
                found: known?.answeredBy.map { .text("challenge \(known?.id ?? ""), answered by \($0)") },
                source: "Android SDK; switch single-use-challenges"),
            orFail: .nonceReused)
        findings.add(
            Finding(
                "challenge-in-time", known.map { moment > $0.expires ? .failed : .passed } ?? .notJudged,
                expected: known.map { .timeUpTo($0.expires.unixSeconds) }, found: .time(moment.unixSeconds),
                source: "follows from expiresOn"),
            orFail: .nonceExpired)
    }

    /// Why nobody asked that in this space.
    private func strangeness(_ id: String?, _ challenge: ComapiChallenge?) -> String? {
        if let challenge { return "The challenge belongs to API space \(challenge.space.text)." }
        return id.flatMap { state.challenges.challenge(nonce: $0) }
            .map {
                "That is the nonce of challenge \($0.id); the token carries it, and authenticationId is the challenge's."
            }
    }

    private func judgeNonce(
        _ token: CompactToken, _ challenge: ComapiChallenge?, _ findings: inout Findings<ComapiFailure>
    ) {
        let source = "JWT page, Required JWT Claims: nonce"
        findings.add(token.claim("nonce", is: .string, source: source), orFail: .missingNonce)
        let nonce = token.claims?["nonce"]?.string
        let expected = challenge.flatMap { $0.space == space.id ? $0.nonce : nil }
        let isSame = nonce.flatMap { nonce in expected.map { $0.hasSameBytes(as: nonce) } }
        let other = isSame == false ? nonce.flatMap { state.challenges.challenge(nonce: $0) } : nil
        let isReused = other?.answeredBy != nil && switches.hasSingleUseChallenges
        findings.add(
            Finding(
                "nonce", isSame.map { $0 ? .passed : .failed } ?? .notJudged, expected: expected.map(Fact.text),
                found: nonce.map(Fact.text),
                note: isReused
                    ? "This is the nonce of a challenge that was answered before."
                    : other.map { "This is the nonce of the challenge \($0.id)." }, source: source),
            orFail: isReused ? .nonceReused : .nonceMismatch)
    }
}
