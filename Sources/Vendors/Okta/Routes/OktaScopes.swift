import JSON

extension OktaServer {
    /// Scopes that say what an ID token or userinfo contains, and so need `openid`.
    private static let claimScopes = ["profile", "email", "address", "phone", "groups"]

    /// The scopes of a request, each once, in its order.
    ///
    /// - Throws: ``OktaFailure/scopeMissing`` for none, ``OktaFailure/scopeUnknown`` for one that the server has not, and
    ///   ``OktaFailure/scopeOpenidRequired`` for those of OpenID Connect without `openid`.
    func scopes(of words: [String]) throws(OktaRefusal) -> [String] {
        var seen: Set<ExactText> = []
        let scopes = words.filter { seen.insert(ExactText($0)).inserted }
        try OktaRefusal.require(
            !scopes.isEmpty, .scopeMissing, "found no scope; expected one or more, separated by spaces")
        let known = OktaServerMetadata.scopes + self.scopes.map(\.name)
        if let stranger = scopes.first(where: { word in !known.contains { $0.hasSameBytes(as: word) } }) {
            throw OktaRefusal(
                .scopeUnknown,
                because:
                    "found scope \(stranger), which server \(id) has not; expected some of \(known.joined(separator: " "))"
            )
        }
        guard !seen.contains(ExactText("openid")), let needy = scopes.first(where: Self.claimScopes.contains) else {
            return scopes
        }
        throw OktaRefusal(.scopeOpenidRequired, because: "found scope \(needy) without openid; expected both")
    }
}
