import Emulation
import JSON

/// A claim that a server adds to tokens besides their own, or sets in place of one.
///
/// Source: guide:customize-tokens-returned-from-okta; that it may replace one of the standard: ours, to test apps.
struct OktaClaim: CodedRecord, RecordValue, Equatable {
    enum Target: String, CaseIterable, RecordValue { case access, id }

    /// Claims of the protocol, about the token and not the user, so that userinfo does not have them.
    private static let ofTokens: Set<String> = [
        "ver", "jti", "iss", "aud", "iat", "exp", "nbf", "sub", "amr", "acr", "idp", "nonce", "auth_time", "at_hash",
        "c_hash", "sid", "ds_hash", "azp",
    ]

    var name = ""
    /// `nil` for both.
    var target: Target?
    /// A constant, where null leaves the claim out; or `user.profile.NAME`, or `groups(…)`.
    var value = JSON.null
    /// The scope with which the claim comes; `nil` for any.
    var scope: String?
    /// Whether ID tokens have it; otherwise userinfo alone.
    var isAlways = true

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("name", &name)
        coder.member("in", &target)
        coder.member("value", &value)
        coder.member("scope", &scope)
        coder.member("always", &isAlways, or: true)
        coder.check(!name.isEmpty, or: "a claim needs a name")
        let text = value.string ?? ""
        coder.check(
            !text.hasPrefix("groups(") || Self.filter(text) != nil,
            or:
                "value is \(text); expected groups(), groups(starts-with TEXT), groups(equals TEXT) or groups(contains TEXT)"
        )
    }

    /// Which names of groups the value selects; `nil` for a value that is not about groups.
    private static func filter(_ text: String) -> ((String) -> Bool)? {
        guard let match = text.wholeMatch(of: /groups\((?:(starts-with|equals|contains) (.+))?\)/) else { return nil }
        let (word, part) = (match.1, String(match.2 ?? ""))
        return { name in
            switch word {
            case "starts-with"?: name.utf8.starts(with: part.utf8)
            case "equals"?: name.hasSameBytes(as: part)
            case .some: name.contains(part)
            case nil: true
            }
        }
    }

    /// The value for a user; `nil` when there is none, as for services.
    private func value(for user: OktaUser?, _ groups: RecordTable<OktaGroup>) -> JSON? {
        guard let text = value.string else { return value }
        if text.hasPrefix("user.profile.") { return user?.profileValue(String(text.dropFirst("user.profile.".count))) }
        guard let filter = Self.filter(text) else { return value }
        return user.map { .array(groups.names(of: $0.groups).filter(filter).map(JSON.string)) }
    }

    /// Sets the claim, if it belongs there.
    ///
    /// - Parameter target: `nil` for userinfo, which shows the claims of ID tokens (guide).
    func apply(
        to claims: inout JSONObject, of target: Target?, _ scopes: [String], _ user: OktaUser?,
        _ groups: RecordTable<OktaGroup>
    ) {
        let isMeant =
            switch target {
            case .access?: self.target != .id
            case .id?: self.target != .access && isAlways
            case nil: self.target != .access && !Self.ofTokens.contains(name)
            }
        guard isMeant, scope.map({ name in scopes.contains { $0.hasSameBytes(as: name) } }) ?? true,
            let value = value(for: user, groups)
        else { return }
        claims[name] = value.isNull ? JSON?.none : value
    }
}

extension [OktaClaim] {
    /// What the journal says about tokens with claims that an action set.
    func interventions(in scopes: [String]) -> [JSON] {
        let targets = OktaClaim.Target.allCases.filter { $0 == .access || scopes.contains("openid") }
        return targets.compactMap { target in
            let names = filter { $0.target ?? target == target }.map(\.name)
            return names.isEmpty
                ? nil
                : ["set_claims": .string(names.joined(separator: ", ")), "of": .string(target.rawValue)]
        }
    }
}

extension OktaUser {
    /// A member of the profile, as the management API shows it.
    fileprivate func profileValue(_ name: String) -> JSON? {
        switch name {
        case "login": .string(login)
        case "email": .string(address)
        case "firstName": .string(firstName)
        case "lastName": .string(lastName)
        default: profile[name]
        }
    }
}
