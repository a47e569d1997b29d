package import Emulation
import HTTPTypes
import Wire

extension HTTPField.Name {
    /// The id of a response. Source: a sample in the vendor's documentation.
    static let requestID = Self("x-request-id") ?? .via
}

extension VendorLoader {
    /// Bloomreach Engagement, formerly Exponea.
    package static let bloomreach = VendorLoader(Bloomreach.self)
}

/// Bloomreach Engagement, a customer-data and messaging backend for mobile SDKs, with the streams of its Data hub.
///
/// It emulates what the SDKs, their example apps and the Python client call: tracking, attributes, consents, in-app
/// messages, content blocks, segments, recommendations, app inbox, self-check. It omits catalogs and analyses: their
/// paths answer `unknown-route`. It never delivers push notifications.
final class Bloomreach: Vendor {
    let accounts: BloomreachAccounts
    let content: BloomreachContent
    /// The shape of each failure, for responses to single commands of a batch.
    let failures: FailureCatalog<BloomreachFailure>
    /// Built once; sandboxes share it until they change it.
    let initialState: BloomreachState
    let recentTokens = RecentReadings<BloomreachToken>()

    init(fixtures: VendorFixtures) throws(FixtureProblem) {
        accounts = try BloomreachAccounts(fixtures)
        content = try BloomreachContent(fixtures, accounts)
        failures = try FailureCatalog(
            fixtures, scope: FailureScope(switches: BloomreachSwitches.declared(), routes: Self.routes.map(\.id)))
        initialState = BloomreachState(accounts, content)
    }

    static let identity = VendorIdentity(
        id: "bloomreach", title: "Bloomreach",
        prefixes: ["/track", "/data/v2", "/webxp", "/wxstatic", "/campaigns", "/optimization"] + elsewhere.prefix(3),
        // Leading slashes may repeat (observed: Android's base ends with one); no other path of the vendor has an empty
        // segment (exponea-android-sdk issue #50).
        repeatedSlashes: .collapseLeading, ignoresTrailingSlash: false, bodyLimit: bodyLimit,
        // The version of the calls for content, which every SDK sends (documented).
        unreadParameters: ["inapp.messages": ["v"], "blocks.static": ["v"], "blocks.personal": ["v"]])

    /// The longest body of any call except a batch (ours): the vendor's bodies have a few hundred bytes.
    static let bodyLimit = 256 << 10

    static let notOffered: [(prefixes: [String], reason: String)] = [
        (
            elsewhere,
            "belongs to a part of Bloomreach that is not emulated; expected a path that “understudy routes” lists"
        )
    ]

    /// What Bloomreach has there instead of nothing. Source: reference pages, the vendor's and others' clients.
    private static let elsewhere =
        ["/bulk", "/crm/events", "/email/v2", "/campaigns/banners/show", "/data/v2/workspaces"]
        + ["catalogs", "analyses", "imports", "customers/anonymize_bulk"].map { "/data/v2/projects/{project}/" + $0 }
        + ["projects/{project}", "streams/{stream}"].flatMap { place in
            ["bundle", "script", "managed-tags"].map { "/webxp/\(place)/\($0)" }
        }

    static let actions = trackingActions + contentActions

    /// Sets `application/json` without parameters and a unique id on each response (documented sample).
    ///
    /// By switch `cors`, pages of any origin may read it (ours: the vendor documents nothing, and its SDKs are not
    /// browsers).
    func finish(
        _ response: inout Response, to request: Request, _ identifiers: IdentifierSource,
        _ switches: () -> BloomreachSwitches
    ) {
        response.fields[.requestID] = identifiers.uuid()
        if response.fields[.contentType]?.hasPrefix("application/json") == true {
            response.fields[.contentType] = "application/json"
        }
        // The switch that refuses POST leaves GET as the only method of such a path.
        if response.status == .methodNotAllowed, response.fields[.allow] == nil { response.fields[.allow] = "GET" }
        // Only browsers send an origin.
        guard request.fields.bytes(of: .origin) != nil, switches().cors else { return }
        response.fields[.accessControlAllowOrigin] = "*"
        response.fields[.accessControlExposeHeaders] = "ETag, x-request-id"
    }

    /// Answers a browser's preflight request without looking at project or key.
    func unroutedAnswer(to request: Request, _ switches: () -> BloomreachSwitches) -> Response? {
        guard request.method == .options, request.fields.bytes(of: .origin) != nil, switches().cors else { return nil }
        return .preflight(
            methods: "GET, POST, OPTIONS", fields: "authorization, content-type, if-none-match, x-understudy-sandbox")
    }
}

/// A request to Bloomreach with what is known about its sender.
typealias BloomreachCall = Call<Bloomreach>
/// A request to Bloomreach, matched to its route.
typealias BloomreachArrival = Arrival<Bloomreach>

/// Calls that track, read and link, and those for an app's content. Each has a path for projects and, if the vendor's
/// newer SDKs have one, a path for streams (observed, iOS `RequestFactory.swift`, android5 `ApiEndPoint.kt`): body and
/// response are the same, only the credentials differ.
extension Bloomreach {
    private static let track = (project: "/track/v2/projects/{project}", stream: "/track/u/v1")
    private static let data = "/data/v2/projects/{project}/customers"

    private static let documented = group(
        access: .keys(nil), evidence: .documented, source: "SDK page; stream: iOS SDK, Android SDK 5")
    private static let observed = group(access: .app(.segments), evidence: .observed, source: "both SDKs")
    private static let withPrivateKey = group(
        access: .privateKey, evidence: .observed, source: "Python client; that it is private: reference pages")

    static let routes = [
        documented.route(
            "track.customers", .post(track.project + "/customers"), observed: .post(track.stream + "/customers"),
            access: .keys(.customers), handler: trackCustomer),
        documented.route(
            "track.events", .post(track.project + "/customers/events"),
            observed: .post(track.stream + "/customers/events"), access: .keys(.events), handler: trackEvent),
        documented.route(
            "track.clicks", .post(track.project + "/campaigns/clicks"),
            observed: .post(track.stream + "/campaigns/clicks"), access: .keys(.campaigns), handler: trackClick),
        documented.route(
            "track.batch", .post(track.project + "/batch"), .post(track.stream + "/batch"),
            source: "reference pages; stream: pages of the Data hub; commands: Python client",
            bodyLimit: RouteListing.standardBodyLimit, handler: runBatch),
        observed.route(
            "track.system-time", .get(track.project + "/system/time"), access: .keys(nil),
            source: "Python client; reference pages; public key inferred", bodyLimit: RouteListing.standardBodyLimit,
            handler: readSystemTime),
        documented.route(
            "selfcheck.send", .post("/campaigns/send-self-check-notification"),
            observed: .post("/campaigns/streams/{stream}/send-self-check-notification"), access: .publicKey(.selfcheck),
            handler: sendSelfCheck),
        observed.route(
            "ids.link", .post("/webxp/projects/{project}/cookies/{cookie}/link-ids"),
            .post("/webxp/streams/{stream}/cookies/{cookie}/link-ids"), handler: linkIDs),

        documented.route(
            "data.attributes", .post(data + "/attributes"), access: .keys(.attributes),
            source: "SDK page; reference pages call it private", handler: readAttributes),
        withPrivateKey.route("data.export-one", .post(data + "/export-one"), handler: exportCustomer),
        withPrivateKey.route("data.events", .post(data + "/events"), handler: readEvents),
        withPrivateKey.route("data.export", .post(data + "/export"), handler: exportCustomers),
        withPrivateKey.route("data.anonymize", .post(data + "/anonymize"), handler: anonymizeCustomer),
        observed.route(
            "mint.customer-token", .post("/webxp/exampleapp/customertokens"), access: .open, source: "iOS example app",
            secrets: ["customer_token"], handler: mintForExampleApp),

        documented.route(
            "appinbox.fetch", .post("/webxp/projects/{project}/appinbox/fetch"),
            observed: .post("/webxp/streams/{stream}/appinbox/fetch"), access: .appInbox,
            source: "SDK page; bodies: both SDKs; sync token: iOS tests, form ours", handler: fetchInbox),
        documented.route(
            "appinbox.markasread", .post("/webxp/projects/{project}/appinbox/markasread"),
            observed: .post("/webxp/streams/{stream}/appinbox/markasread"), access: .appInbox,
            source: "SDK page; bodies: both SDKs", handler: markInboxRead),
        documented.route(
            "inapp.messages", .post("/webxp/s/{project}/inappmessages"),
            observed: .post("/webxp/streams/{stream}/inappmessages"), access: .publicKey(.inapp),
            source: "SDK page; query of newer SDKs and bodies: both SDKs", handler: inAppMessages),
        observed.route(
            "blocks.static", .get("/wxstatic/projects/{project}/bundle-ios.json"),
            .get("/wxstatic/projects/{project}/bundle-android.json"),
            .get("/wxstatic/streams/{stream}/bundle-ios.json"),
            .get("/wxstatic/streams/{stream}/bundle-android.json"), access: .staticContent,
            source: "both SDKs; that no credential is needed: ours", handler: staticBlocks),
        observed.route(
            "blocks.personal", .post("/webxp/s/{project}/inappcontentblocks"),
            .post("/webxp/streams/{stream}/inappcontentblocks"), access: .app(.blocks), handler: personalBlocks),
        documented.route(
            "consents.list", .post("/data/v2/projects/{project}/consent/categories"),
            observed: .get("/data/v2/projects/{project}/consent/categories"),
            .get("/data/v2/streams/{stream}/consent/categories"), .post("/data/v2/streams/{stream}/consent/categories"),
            access: .keys(.consents), source: "POST: SDK page; GET and streams: every SDK", handler: consents),
        observed.route(
            "segments.list", .get("/webxp/projects/{project}/segments"), .get("/webxp/streams/{stream}/segments"),
            handler: segments),
        observed.route(
            "recommend.user", .post("/optimization/streams/{stream}/recommend/user"), access: .recommendations,
            source: "iOS and android5", handler: recommendations),
    ]

    static func security(of access: BloomreachAccess) -> [[SecurityScheme]] {
        if access.openness == .open { return [] }
        // On the paths of streams, a token.
        var schemes = ["bearer"]
        if access.accepted.contains(.publicKey) { schemes.append("token") }
        if access.accepted.contains(.privateKey) { schemes.append("basic") }
        return schemes.map { [.authorization($0)] } + (access.openness == .credentialOptional ? [[]] : [])
    }
}

/// A kind of credential. Source: documented, the vendor's pages on authentication and `authorization.md` of its SDK.
enum BloomreachCredentialKind: String, Sendable, CaseIterable {
    /// `Token KEY`, or the query `access_token`.
    case publicKey = "public key"
    /// `Basic base64(ID:SECRET)`.
    case privateKey = "private key"
    /// `Bearer JWT` on the paths of a project.
    case customerToken = "customer token"
    /// `Bearer JWT` on the paths of a stream.
    case streamToken = "stream token"
    /// `Basic base64(STREAM:SECRET)` on the paths of a private stream. The form is ours: that both are needed is
    /// documented (Data hub pages on permissions of event streams).
    case secretKey = "secret key"
}

/// What a route requires of its caller: one row of the permission matrix.
struct BloomreachAccess: Sendable {
    /// The credentials accepted on the paths of a project.
    let accepted: Set<BloomreachCredentialKind>
    /// The permission that a public key needs.
    let permission: BloomreachPermission?
    /// Whether a call may omit its credential, or its project too.
    var openness = Openness.closed
    /// Whether a stream requires a token here even if it requires few.
    var alwaysNeedsStreamToken = false

    enum Openness: Sendable {
        case closed
        /// A credential may be absent; if present, it is fully verified.
        case credentialOptional
        /// Project and credential are ignored.
        case open
    }

    static func keys(_ permission: BloomreachPermission?) -> BloomreachAccess {
        BloomreachAccess(accepted: [.publicKey, .privateKey], permission: permission)
    }

    static func publicKey(_ permission: BloomreachPermission) -> BloomreachAccess {
        BloomreachAccess(accepted: [.publicKey], permission: permission)
    }

    /// A public key with that permission, or a customer token.
    static func app(_ permission: BloomreachPermission) -> BloomreachAccess {
        BloomreachAccess(accepted: [.publicKey, .customerToken], permission: permission)
    }

    static let appInbox = BloomreachAccess(
        accepted: [.publicKey, .customerToken], permission: .appinbox, alwaysNeedsStreamToken: true)

    /// Static content: open, but a credential must be valid if sent.
    static let staticContent = BloomreachAccess(
        accepted: [.publicKey, .customerToken], permission: .blocks, openness: .credentialOptional)

    static let privateKey = BloomreachAccess(accepted: [.privateKey], permission: nil)

    static let recommendations = BloomreachAccess(accepted: [], permission: nil, alwaysNeedsStreamToken: true)

    static let open = BloomreachAccess(accepted: [], permission: nil, openness: .open)
}

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
