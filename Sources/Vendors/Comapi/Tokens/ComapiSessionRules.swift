import Emulation
import HTTPTypes
import JSON
import Tokens

/// The checks of a session's token that need no state. Statuses are observed, JS and Android SDK; names and order are ours.
extension Comapi {
    /// The token that a request presents: the header's, or on the socket the query's; the header wins.
    func presentedToken(
        _ arrival: ComapiArrival, _ findings: inout Findings<ComapiFailure>
    ) -> ComapiSessionToken? {
        let header = BearerToken(arrival.request.fields)
        var bytes = header.bytes
        if !header.isSent, case .socket = arrival.route.access {
            bytes = arrival.request.queryItems.first { $0.name == "token" }.map { Array($0.value.utf8)[...] }
            if bytes?.isEmpty == true { bytes = nil }
        }
        let presence =
            bytes != nil
            ? Finding("session-present", .passed, expected: .text(BearerToken.form), source: "all SDKs")
            : header.presence("session-present", source: "all SDKs")
        findings.add(presence, orFail: .sessionMissing)
        if let oddity = header.oddity() { findings.add(oddity, orFail: .sessionMalformed) }
        return bytes.map { recentTokens.reading(of: $0, ComapiSessionToken.init(bytes:)) }
    }

    /// Form, space, signature, claims and end of a session's token, in this order.
    func judge(
        _ token: ComapiSessionToken, of space: ComapiSpace, in sandbox: SandboxIdentity, at moment: Moment,
        _ findings: inout Findings<ComapiFailure>
    ) {
        let compact = token.compact
        findings.add(compact.structure, orFail: .sessionMalformed)
        findings.add(judgeSpace(token, space), orFail: .sessionOtherSpace)
        findings.add(compact.algorithm(is: .hs256, source: "ours"), orFail: .sessionForged)
        findings.add(judgeSignature(token, space, sandbox), orFail: .sessionForged)
        findings.add(
            [
                compact.claim("apiSpaceId", is: .nonEmptyString, source: "JS SDK"),
                compact.claim("sub", is: .nonEmptyString, source: "mock of the JS SDK"),
                compact.claim("jti", is: .nonEmptyString, source: "ours"),
                compact.claim("boot", is: .nonEmptyString, source: "ours"),
                compact.claim("exp", is: .number, source: "JS SDK"),
            ], orFail: .sessionForged)
        findings.add(
            compact.expiry(at: moment.unixSeconds, source: "ours: no leeway, refused from expiresOn on"),
            orFail: .sessionExpired)
    }

    private func judgeSpace(_ token: ComapiSessionToken, _ space: ComapiSpace) -> Finding {
        Finding(
            "session-space", token.spaceID.map { $0 == space.id ? .passed : .failed } ?? .notJudged,
            expected: .text(space.id.text), found: token.spaceID.map { .text($0.text) } ?? .absent,
            note: token.spaceID.map { $0 == space.id } == false
                ? "The token belongs to a session of another API space than the path." : nil,
            source: "ours: each space has its own key")
    }

    private func judgeSignature(
        _ token: ComapiSessionToken, _ space: ComapiSpace, _ sandbox: SandboxIdentity
    ) -> Finding {
        let key = sessionKeys.key(of: space, in: sandbox).verificationKey
        let finding = token.compact.signature(by: key, algorithm: .hs256, source: "ours")
        guard finding.outcome == .failed else { return finding }
        return finding.because(mistake(of: token, space) ?? finding.note ?? "")
    }

    /// What explains that the signature of a session's token does not fit.
    private func mistake(of token: ComapiSessionToken, _ space: ComapiSpace) -> String? {
        if token.spaceID == nil, token.compact.claims?["nonce"] != nil {
            return
                "This looks like the app's own JWT; it answers a challenge, and the token of the answer is sent here."
        }
        if let name = sessionKeys.issuer(of: token.compact, for: space) {
            return
                "The signature fits a session of sandbox \(name): the request has come to another sandbox than the token."
        }
        let secret = space.sharedKey.verificationKey
        guard token.compact.signature(by: secret, algorithm: .hs256).outcome == .passed else { return nil }
        return "The signature fits the shared secret of the API space, which signs the app's own JWT only."
    }
}
