import Emulation

/// Documented and observed differences in Bloomreach's behaviour.
struct BloomreachSwitches: VendorSwitches {
    enum ConsentsMethod: String, CaseIterable { case postAndGet = "post-and-get", getOnly = "get-only" }
    enum AttributesAccess: String, CaseIterable { case `public`, `private` }
    enum CustomerTokenBinding: String, CaseIterable { case exact, subset, off }
    enum AppInboxAuth: String, CaseIterable { case any, advanced }
    enum UnknownProjectStatus: String, CaseIterable { case badRequest = "400", notFound = "404" }
    enum SyncTokenCheck: String, CaseIterable { case gone, fullResync = "full-resync" }
    enum UnknownIDs: String, CaseIterable { case accept, reject }
    enum RequireJWT: String, CaseIterable { case appInbox = "app-inbox", all }

    var consentsMethod = ConsentsMethod.postAndGet
    var attributesAccess = AttributesAccess.public
    var customerTokenBinding = CustomerTokenBinding.exact
    var appInboxAuth = AppInboxAuth.any
    var syncTokenCheck = SyncTokenCheck.gone
    var unknownIDs = UnknownIDs.accept
    var mintEndpoint = true
    var leewaySeconds = 0
    var requireJWT = RequireJWT.appInbox
    var cors = false
    /// All values, for the conditions in `failures.yaml`.
    var values = SwitchValues([:])

    mutating func code(_ coder: inout SwitchCoder) {
        values = coder.values ?? values
        coder.choice(
            "consents-method", &consentsMethod, observed: .getOnly,
            about: "whether POST also lists the consent categories", source: "SDK page; both SDKs, refusal inferred")
        coder.choice(
            "attributes-access", &attributesAccess, about: "whether a public key may read attributes",
            source: "SDK page, both SDKs; reference pages: private")
        coder.choice(
            "customer-token-binding", &customerTokenBinding,
            about: "how the ids of a customer token are compared with those of the request",
            source: "SDK page; alternatives ours")
        coder.choice(
            "app-inbox-auth", &appInboxAuth,
            about: "whether the app inbox accepts public keys; a project may override it",
            source: "reference page of the app inbox")
        coder.condition(
            "unknown-project-status", documented: UnknownProjectStatus.badRequest, observed: .notFound,
            about: "the answer for a project that does not exist",
            source: "reference pages; exponea-android-sdk issue #50")
        coder.choice(
            "sync-token-check", &syncTokenCheck,
            about: "whether a stale or unknown sync token is refused, or answered with all messages",
            source: "iOS tests; other ours")
        coder.condition(
            "token-expired-flag", documented: SwitchFlag.on,
            about: "whether token_expired marks an expired customer token", source: "android5; ours")
        coder.choice(
            "unknown-ids", &unknownIDs, about: "whether ids may have names that the project does not define",
            source: "ours")
        coder.flag(
            "mint-endpoint", &mintEndpoint, about: "whether the example apps' call for a customer token exists",
            source: "example apps; ours")
        coder.count("clock-leeway-seconds", &leewaySeconds, about: "seconds of grace for exp and nbf", source: "ours")
        coder.choice(
            "require-jwt", &requireJWT, about: "which calls to a stream need a token; a stream may override it",
            source: "ours")
        coder.flag("cors", &cors, about: "whether pages of any origin may call, as a browser asks", source: "ours")
    }
}
