import Emulation

/// Content for an app's customer: inbox, in-app messages, content blocks, consents, segments, recommendations.
///
/// Each call has a path for projects and, if the vendor's newer SDKs have one, a path for streams (observed, iOS
/// `RequestFactory.swift`, android5 `ApiEndPoint.kt`).
extension Bloomreach {
    static let contentRoutes: [Route<Bloomreach>] = inboxRoutes + messageRoutes + blockRoutes + customerRoutes

    private static let inboxRoutes: [Route<Bloomreach>] = [
        Route(
            "appinbox.fetch", .post("/webxp/projects/{project}/appinbox/fetch"),
            observed: .post("/webxp/streams/{stream}/appinbox/fetch"), access: .appInbox, evidence: .documented,
            source: "SDK page; bodies: both SDKs; sync token: iOS tests, form ours", bodyLimit: bodyLimit,
            handler: fetchInbox),
        Route(
            "appinbox.markasread", .post("/webxp/projects/{project}/appinbox/markasread"),
            observed: .post("/webxp/streams/{stream}/appinbox/markasread"), access: .appInbox, evidence: .documented,
            source: "SDK page; bodies: both SDKs", bodyLimit: bodyLimit, handler: markInboxRead),
    ]

    private static let messageRoutes: [Route<Bloomreach>] = [
        Route(
            "inapp.messages", .post("/webxp/s/{project}/inappmessages"),
            observed: .post("/webxp/streams/{stream}/inappmessages"),
            access: .publicKey(.inapp), evidence: .documented,
            source: "SDK page; query of newer SDKs and bodies: both SDKs",
            bodyLimit: bodyLimit, handler: inAppMessages)
    ]

    private static let blockRoutes: [Route<Bloomreach>] = [
        Route(
            "blocks.static", .get("/wxstatic/projects/{project}/bundle-ios.json"),
            .get("/wxstatic/projects/{project}/bundle-android.json"),
            .get("/wxstatic/streams/{stream}/bundle-ios.json"),
            .get("/wxstatic/streams/{stream}/bundle-android.json"), access: .staticContent, evidence: .observed,
            source: "both SDKs; that no credential is needed: ours", bodyLimit: bodyLimit, handler: staticBlocks),
        Route(
            "blocks.personal", .post("/webxp/s/{project}/inappcontentblocks"),
            .post("/webxp/streams/{stream}/inappcontentblocks"), access: .app(.blocks), evidence: .observed,
            source: "both SDKs", bodyLimit: bodyLimit, handler: personalBlocks),
    ]

    private static let customerRoutes: [Route<Bloomreach>] = [
        Route(
            "consents.list", .post("/data/v2/projects/{project}/consent/categories"),
            observed: .get("/data/v2/projects/{project}/consent/categories"),
            .get("/data/v2/streams/{stream}/consent/categories"), .post("/data/v2/streams/{stream}/consent/categories"),
            access: .keys(.consents), evidence: .documented, source: "POST: SDK page; GET and streams: every SDK",
            bodyLimit: bodyLimit,
            handler: consents),
        Route(
            "segments.list", .get("/webxp/projects/{project}/segments"), .get("/webxp/streams/{stream}/segments"),
            access: .app(.segments), evidence: .observed, source: "both SDKs", bodyLimit: bodyLimit, handler: segments),
        Route(
            "recommend.user", .post("/optimization/streams/{stream}/recommend/user"), access: .recommendations,
            evidence: .observed, source: "iOS and android5", bodyLimit: bodyLimit, handler: recommendations),
    ]
}
