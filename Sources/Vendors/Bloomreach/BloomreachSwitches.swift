import Emulation

/// Documented and observed differences in Bloomreach's behaviour.
struct BloomreachSwitches: VendorSwitches {
    enum ConsentsMethod: String, CaseIterable { case postAndGet = "post-and-get", getOnly = "get-only" }
    enum AttributesAccess: String, CaseIterable { case `public`, `private` }
    enum CustomerTokenBinding: String, CaseIterable { case exact, subset, off }
    enum AppInboxAuth: String, CaseIterable { case any, advanced }
    enum UnknownProjectStatus: String, CaseIterable { case badRequest = "400", notFound = "404" }
    enum SyncTokenCheck: String, CaseIterable { case gone, fullResync = "full-resync" }
    enum OnOff: String, CaseIterable { case on, off }
    enum UnknownIDs: String, CaseIterable { case accept, reject }
    enum RequireJWT: String, CaseIterable { case appInbox = "app-inbox", all }

    let consentsMethod: ConsentsMethod
    let attributesAccess: AttributesAccess
    let customerTokenBinding: CustomerTokenBinding
    let appInboxAuth: AppInboxAuth
    let syncTokenCheck: SyncTokenCheck
    let unknownIDs: UnknownIDs
    let mintEndpoint: OnOff
    let leewaySeconds: Int
    let requireJWT: RequireJWT
    let cors: OnOff
    /// All values, for the conditions in `failures.yaml`.
    let values: SwitchValues

    init(_ values: SwitchValues) {
        consentsMethod = values.choice("consents-method", default: .postAndGet)
        attributesAccess = values.choice("attributes-access", default: .public)
        customerTokenBinding = values.choice("customer-token-binding", default: .exact)
        appInboxAuth = values.choice("app-inbox-auth", default: .any)
        syncTokenCheck = values.choice("sync-token-check", default: .gone)
        unknownIDs = values.choice("unknown-ids", default: .accept)
        mintEndpoint = values.choice("mint-endpoint", default: .on)
        leewaySeconds = values.count("clock-leeway-seconds") ?? 0
        requireJWT = values.choice("require-jwt", default: .appInbox)
        cors = values.choice("cors", default: .off)
        self.values = values
    }

    /// All switches; conditions in `failures.yaml` read `unknown-project-status` and `token-expired-flag`.
    static let declarations: [SwitchDeclaration] = [
        SwitchDeclaration(
            "consents-method", documented: ConsentsMethod.postAndGet, observed: .getOnly,
            about: "whether POST also lists the consent categories",
            source: "SDK page; both SDKs, refusal inferred"),
        SwitchDeclaration(
            "attributes-access", documented: AttributesAccess.public, observed: .public,
            about: "whether a public key may read attributes", source: "SDK page, both SDKs; reference pages: private"),
        SwitchDeclaration(
            "customer-token-binding", documented: CustomerTokenBinding.exact, observed: .exact,
            about: "how the ids of a customer token are compared with those of the request",
            source: "SDK page; alternatives ours"),
        SwitchDeclaration(
            "app-inbox-auth", documented: AppInboxAuth.any, observed: .any,
            about: "whether the app inbox takes public keys; a project may say otherwise",
            source: "reference page of the app inbox"),
        SwitchDeclaration(
            "unknown-project-status", documented: UnknownProjectStatus.badRequest, observed: .notFound,
            about: "how a project that does not exist is answered",
            source: "reference pages; exponea-android-sdk issue #50"),
        SwitchDeclaration(
            "sync-token-check", documented: SyncTokenCheck.gone, observed: .gone,
            about: "whether a stale or unknown sync token is refused, or answered with all messages",
            source: "iOS tests; other ours"),
        SwitchDeclaration(
            "token-expired-flag", documented: OnOff.on, observed: .on,
            about: "whether token_expired marks an expired customer token", source: "android5; ours"),
        SwitchDeclaration(
            "unknown-ids", documented: UnknownIDs.accept, observed: .accept,
            about: "whether ids may have names that the project does not define", source: "ours"),
        SwitchDeclaration(
            "mint-endpoint", documented: OnOff.on, observed: .on,
            about: "whether the call of the example apps for a customer token is there", source: "example apps; ours"),
        SwitchDeclaration(
            "clock-leeway-seconds", .count(orWord: nil), documented: "0", observed: "0",
            about: "seconds of grace for exp and nbf", source: "ours"),
        SwitchDeclaration(
            "require-jwt", documented: RequireJWT.appInbox, observed: .appInbox,
            about: "which calls to a stream need a token; a stream may say otherwise", source: "ours"),
        SwitchDeclaration(
            "cors", documented: OnOff.off, observed: .off,
            about: "whether pages of any origin may call, as a browser asks", source: "ours"),
    ]
}
