import Emulation

/// Configurable differences in IMS's behaviour; the real backend was never observed, so both profiles agree.
struct IMSSwitches: VendorSwitches {
    enum MissingNotBefore: String, CaseIterable { case refuse, accept }
    enum UnknownUser: String, CaseIterable { case refuse, adopt }
    enum OperatorAuth: String, CaseIterable { case key, open }

    /// `nil` when lifetimes are unlimited.
    var maximumLifetimeSeconds: Int?
    var notBeforeLeewaySeconds = 30
    var expiryLeewaySeconds = 0
    var missingNotBefore = MissingNotBefore.refuse
    var unknownUser = UnknownUser.refuse
    var operatorAuth = OperatorAuth.key
    var coolDownSeconds = 30
    var standardLifetimeSeconds = 600
    var nearExpirySeconds = 60
    /// Hosts that key URLs may name besides those of the fixtures and this machine, in lower case.
    var allowedHosts: [String] = []
    /// Hosts that may be asked for keys without TLS, in lower case.
    var allowedPlainHosts: [String] = []

    mutating func code(_ coder: inout SwitchCoder) {
        coder.limit(
            "max-lifetime-seconds", &maximumLifetimeSeconds,
            about: "how long a token may live from nbf or iat to exp, for issuers without a rule of their own",
            source: "security page: can enforce a maximum; 900 was the rule of an older page")
        coder.count(
            "not-before-leeway-seconds", &notBeforeLeewaySeconds, in: 0...600,
            about: "how long before nbf or iat a token is accepted, for issuers without a rule of their own",
            source: "ours")
        coder.count(
            "expiry-leeway-seconds", &expiryLeewaySeconds, in: 0...600,
            about: "how long after exp a token is accepted, for issuers without a rule of their own", source: "ours")
        coder.choice(
            "missing-not-before", &missingNotBefore, about: "what happens to tokens with neither nbf nor iat",
            source: "security page")
        coder.choice(
            "unknown-user", &unknownUser,
            about: "whether a valid token for an unknown sub enrolls and activates a user", source: "ours")
        coder.choice(
            "operator-auth", &operatorAuth, about: "whether onboarding and enrollment need the operator key",
            source: "ours")
        coder.count(
            "jwks-cooldown-seconds", &coolDownSeconds, in: 0...3600,
            about: "how long after an attempt to fetch keys the next one must wait", source: "ours")
        coder.count(
            "jwks-default-lifetime-seconds", &standardLifetimeSeconds, in: 30...86_400,
            about: "how long fetched keys live when the answer does not say", source: "ours")
        coder.count(
            "sdk-near-expiry-seconds", &nearExpirySeconds, in: 0...3600,
            about: "how long before exp the SDK asks for a new token",
            source: "security page: near expiry; the number ours")
        coder.hosts(
            "jwks-allow", &allowedHosts, about: "hosts that may be named in key URLs, separated by commas",
            source: "ours")
        coder.hosts(
            "jwks-allow-http", &allowedPlainHosts,
            about: "hosts from which keys may be fetched without TLS, separated by commas", source: "ours")
    }
}
