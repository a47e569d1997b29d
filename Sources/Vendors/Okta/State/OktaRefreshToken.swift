import Emulation
import JSON

struct OktaRefreshToken: Sendable, Equatable {
    /// How long an unused one lives at a custom server. Source: guide:refresh-tokens.
    static let idleLifetime = Duration.seconds(7 * 86_400)
    /// How long one lives at the org server, used or not. Source: ref.
    static let orgLifetime = Duration.seconds(90 * 86_400)
    /// ours: how many of a family are remembered, so that a client that rotates in a loop pushes out its own ones only.
    static let familyBound = 100

    var id = ""
    var grant = 0
    var issued = Moment(unixSeconds: 0)
    var lastUsed = Moment(unixSeconds: 0)
    /// `nil` for no end but disuse; a successor has the end of the first one.
    var expires: Moment?
    /// When a use replaced it by another one; `nil` while it is the newest.
    var replaced: Moment?

    /// When it ends unless it is used.
    var end: Moment { expires ?? lastUsed + Self.idleLifetime }

    /// Why it has ended; `nil` while it has not.
    func complaint(at moment: Moment) -> String? {
        guard moment >= end else { return nil }
        if let expires {
            return "the refresh token ended at \(expires.rfc3339); expected one that has not, 90 days at most"
        }
        return "the refresh token was last used at \(lastUsed.rfc3339); expected a use within 7 days"
    }
}

extension OktaRefreshToken: KeyedRecord, CodedRecord {
    var key: ExactText { ExactText(id) }
    var group: Int? { grant }
    var secretText: String? { id }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("id", &id)
        coder.member("grant", &grant)
        coder.member("issued", &issued)
        coder.member("last_used", &lastUsed)
        coder.end("expires", &expires)
        coder.member("replaced", &replaced)
    }
}

extension OktaState {
    /// Adds the first refresh token of a grant.
    mutating func addRefreshToken(to grant: OktaGrant, of server: OktaServer, _ call: OktaCall) -> OktaRefreshToken {
        let token = OktaRefreshToken(
            id: call.identifiers.opaque(ofLength: 43), grant: grant.number, issued: call.moment, lastUsed: call.moment,
            expires: server.isOrg ? call.moment + OktaRefreshToken.orgLifetime : nil)
        refreshTokens.add(token, within: Self.bound)
        return token
    }

    /// Uses a refresh token.
    ///
    /// - Returns: the refresh token to answer with: itself, its successor, or within the leeway of a replaced one the
    ///   newest of its family (ours).
    mutating func use(_ token: OktaRefreshToken, rotates: Bool, _ call: OktaCall) -> String {
        if token.replaced != nil {
            let newest = refreshTokens.records(in: token.grant).last { $0.replaced == nil } ?? token
            refreshTokens.change(newest.key) { $0.lastUsed = call.moment }
            return newest.id
        }
        refreshTokens.change(token.key) { $0.lastUsed = call.moment }
        guard rotates else { return token.id }
        refreshTokens.change(token.key) { $0.replaced = call.moment }
        var next = token
        (next.id, next.issued, next.lastUsed) = (call.identifiers.opaque(ofLength: 43), call.moment, call.moment)
        refreshTokens.add(next, within: Self.bound)
        let family = refreshTokens.records(in: token.grant)
        for old in family.prefix(max(0, family.count - OktaRefreshToken.familyBound)) { refreshTokens.remove(old.key) }
        return next.id
    }
}
