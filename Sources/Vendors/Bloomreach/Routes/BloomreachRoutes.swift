import Emulation

/// Calls that track, read and link. Each route serves both projects and streams: body and response are the same, only
/// the credentials differ.
extension Bloomreach {
    private static let track = (project: "/track/v2/projects/{project}", stream: "/track/u/v1")
    private static let data = "/data/v2/projects/{project}/customers"

    static let trackingRoutes: [Route<Bloomreach>] = [
        Route(
            "track.customers", .post(track.project + "/customers"), observed: .post(track.stream + "/customers"),
            access: .keys(.customers), evidence: .documented, source: "SDK page; stream: iOS SDK, Android SDK 5",
            bodyLimit: bodyLimit, handler: trackCustomer),
        Route(
            "track.events", .post(track.project + "/customers/events"),
            observed: .post(track.stream + "/customers/events"),
            access: .keys(.events), evidence: .documented, source: "SDK page; stream: iOS SDK, Android SDK 5",
            bodyLimit: bodyLimit, handler: trackEvent),
        Route(
            "track.clicks", .post(track.project + "/campaigns/clicks"),
            observed: .post(track.stream + "/campaigns/clicks"),
            access: .keys(.campaigns), evidence: .documented, source: "SDK page; stream: iOS SDK, Android SDK 5",
            bodyLimit: bodyLimit, handler: trackClick),
        Route(
            "track.batch", .post(track.project + "/batch"), access: .keys(nil), evidence: .observed,
            source: "Python client; reference pages; public key inferred", handler: runBatch),
        Route(
            "track.system-time", .get(track.project + "/system/time"), access: .keys(nil), evidence: .observed,
            source: "Python client; reference pages; public key inferred", handler: readSystemTime),
        Route(
            "selfcheck.send", .post("/campaigns/send-self-check-notification"),
            observed: .post("/campaigns/streams/{stream}/send-self-check-notification"), access: .publicKey(.selfcheck),
            evidence: .documented, source: "SDK page; stream: iOS SDK, Android SDK 5", bodyLimit: bodyLimit,
            handler: sendSelfCheck),
        Route(
            "ids.link", .post("/webxp/projects/{project}/cookies/{cookie}/link-ids"),
            .post("/webxp/streams/{stream}/cookies/{cookie}/link-ids"), access: .app(.segments), evidence: .observed,
            source: "both SDKs", bodyLimit: bodyLimit, handler: linkIDs),
    ]

    private static let withPrivateKey = RouteGroup<Bloomreach>(
        access: .privateKey, evidence: .observed, source: "Python client; that it is private: reference pages",
        bodyLimit: bodyLimit)

    static let dataRoutes: [Route<Bloomreach>] = [
        Route(
            "data.attributes", .post(data + "/attributes"), access: .keys(.attributes), evidence: .documented,
            source: "SDK page; reference pages call it private", bodyLimit: bodyLimit, handler: readAttributes),
        withPrivateKey.route("data.export-one", .post(data + "/export-one"), handler: exportCustomer),
        withPrivateKey.route("data.events", .post(data + "/events"), handler: readEvents),
        withPrivateKey.route("data.export", .post(data + "/export"), handler: exportCustomers),
        withPrivateKey.route("data.anonymize", .post(data + "/anonymize"), handler: anonymizeCustomer),
        Route(
            "mint.customer-token", .post("/webxp/exampleapp/customertokens"), access: .open, evidence: .observed,
            source: "iOS example app", secrets: ["customer_token"], bodyLimit: bodyLimit, handler: mintForExampleApp),
    ]
}
