import Emulation

/// Configurable differences in IMS's behaviour; the real backend was never observed, so both profiles agree.
struct IMSSwitches: VendorSwitches {
    enum MissingNotBefore: String, CaseIterable { case refuse, accept }
    enum UnknownUser: String, CaseIterable { case refuse, adopt }
    enum OperatorAuth: String, CaseIterable { case key, open }

    /// `nil` when lifetimes are unlimited.
    let maximumLifetimeSeconds: Int?
    let notBeforeLeewaySeconds: Int
    let expiryLeewaySeconds: Int
    let missingNotBefore: MissingNotBefore
    let unknownUser: UnknownUser
    let operatorAuth: OperatorAuth
    let coolDownSeconds: Int
    let standardLifetimeSeconds: Int
    let nearExpirySeconds: Int
    /// Hosts that key URLs may name besides those of the fixtures and this machine, in lower case.
    let allowedHosts: [String]
    /// Hosts that may be asked for keys without TLS, in lower case.
    let allowedPlainHosts: [String]

    init(_ values: SwitchValues) {
        maximumLifetimeSeconds = values.count("max-lifetime-seconds")
        notBeforeLeewaySeconds = values.count("not-before-leeway-seconds") ?? 30
        expiryLeewaySeconds = values.count("expiry-leeway-seconds") ?? 0
        missingNotBefore = values.choice("missing-not-before", default: .refuse)
        unknownUser = values.choice("unknown-user", default: .refuse)
        operatorAuth = values.choice("operator-auth", default: .key)
        coolDownSeconds = values.count("jwks-cooldown-seconds") ?? 30
        standardLifetimeSeconds = values.count("jwks-default-lifetime-seconds") ?? 600
        nearExpirySeconds = values.count("sdk-near-expiry-seconds") ?? 60
        allowedHosts = values.hosts("jwks-allow")
        allowedPlainHosts = values.hosts("jwks-allow-http")
    }

    static let declarations: [SwitchDeclaration] = [
        SwitchDeclaration(
            "max-lifetime-seconds", .count(orWord: "off"), documented: "off", observed: "off",
            about: "how long a token may live from nbf or iat to exp, for issuers that say nothing else",
            source: "security page: can enforce a maximum; 900 was the rule of an older page"),
        SwitchDeclaration(
            "not-before-leeway-seconds", .number(0...600), documented: "30", observed: "30",
            about: "how long before nbf or iat a token is accepted, for issuers that say nothing else", source: "ours"),
        SwitchDeclaration(
            "expiry-leeway-seconds", .number(0...600), documented: "0", observed: "0",
            about: "how long after exp a token is accepted, for issuers that say nothing else", source: "ours"),
        SwitchDeclaration(
            "missing-not-before", documented: MissingNotBefore.refuse, observed: .refuse,
            about: "what happens to tokens with neither nbf nor iat", source: "security page"),
        SwitchDeclaration(
            "unknown-user", documented: UnknownUser.refuse, observed: .refuse,
            about: "whether a valid token for an unknown sub enrolls and activates a user", source: "ours"),
        SwitchDeclaration(
            "operator-auth", documented: OperatorAuth.key, observed: .key,
            about: "whether onboarding and enrollment need the operator key", source: "ours"),
        SwitchDeclaration(
            "jwks-cooldown-seconds", .number(0...3600), documented: "30", observed: "30",
            about: "how long an attempt to fetch keys keeps the next one away", source: "ours"),
        SwitchDeclaration(
            "jwks-default-lifetime-seconds", .number(30...86_400), documented: "600", observed: "600",
            about: "how long fetched keys live when the answer does not say", source: "ours"),
        SwitchDeclaration(
            "sdk-near-expiry-seconds", .number(0...3600), documented: "60", observed: "60",
            about: "how long before exp the SDK asks for a new token",
            source: "security page: near expiry; the number ours"),
        SwitchDeclaration(
            "jwks-allow", .hosts, documented: "", observed: "",
            about: "hosts that may be named in key URLs, separated by commas", source: "ours"),
        SwitchDeclaration(
            "jwks-allow-http", .hosts, documented: "", observed: "",
            about: "hosts from which keys may be fetched without TLS, separated by commas", source: "ours"),
    ]
}
