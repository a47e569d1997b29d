package import Emulation
import HTTPTypes
import Wire

extension VendorLoader {
    /// Comapi, the messaging part of Dotdigital.
    package static let comapi = VendorLoader(Comapi.self)
}

/// Comapi, a backend for in-app messaging: sessions, profiles, conversations, push, content and a live event socket.
///
/// It emulates what the vendor's SDKs call. It does not emulate the administration of accounts, whose spaces come from
/// `accounts.yaml`, or the delivery of pushes, which are only recorded.
final class Comapi: Vendor, MintsTokens, ServesSockets, KeepsDeadlines, FinishesAnswers {
    typealias State = ComapiState
    typealias Failure = ComapiFailure
    typealias Switches = ComapiSwitches
    typealias Access = ComapiAccess
    typealias Credentials = ComapiCredentials
    typealias SocketLabel = ComapiSocket

    let accounts: ComapiAccounts
    let recentTokens = RecentReadings<ComapiSessionToken>()
    let sessionKeys = ComapiSessionKeys()

    init(fixtures: VendorFixtures) throws(FixtureProblem) {
        accounts = try ComapiAccounts(fixtures)
    }

    static let identity = VendorIdentity(
        id: "comapi", title: "Comapi", prefixes: ["/apispaces"],
        // A base URL that ends in a slash gives `//apispaces` (observed, JS SDK); accepting it is ours.
        pathRules: PathRules(
            repeatedSlashes: .collapseLeading, ignoresTrailingSlash: false, rewrite: ComapiPath.rewrite),
        // ours: the SDKs move larger parts of messages to the content route.
        bodyLimit: 256 * 1024)

    static let unrouted = UnroutedFailures<ComapiFailure>(
        routeNotFound: .unknownPath, methodNotAllowed: .methodNotAllowed, bodyTooLarge: .bodyTooLarge)

    private static let space = "/apispaces/{space}"
    private static let session = space + "/sessions/{session}"
    private static let conversation = space + "/conversations/{conversation}"

    static let routes: [Route<Comapi>] =
        sessionRoutes + profileRoutes + conversationRoutes + messageRoutes + otherRoutes

    private static let sessionRoutes: [Route<Comapi>] = [
        Route(
            "session.start", .get(space + "/sessions/start"), access: .space, evidence: .observed, source: "all SDKs",
            handler: startSession),
        Route(
            "session.create", .post(space + "/sessions"), access: .challenge, evidence: .observed, source: "all SDKs",
            secrets: ["authenticationToken", "token", "registrationId"], handler: createSession),
        Route(
            "session.read", .get(session), access: .session, evidence: .observed, source: "JS SDK, Android SDK",
            handler: readSession),
        Route(
            "session.end", .delete(session), access: .session, evidence: .observed, source: "all SDKs",
            handler: endSession),
        Route(
            "push.register", .put(session + "/push"), access: .session, evidence: .observed, source: "all SDKs",
            handler: registerPush),
        Route(
            "push.remove", .delete(session + "/push"), access: .session, evidence: .observed, source: "JS SDK",
            handler: removePush),
    ]

    private static let profileRoutes: [Route<Comapi>] = [
        Route(
            "profile.query", .get(space + "/profiles"), access: .session, evidence: .observed, source: "all SDKs",
            handler: queryProfiles),
        Route(
            "profile.read", .get(space + "/profiles/{profile}"), access: .session, evidence: .observed,
            source: "all SDKs", handler: readProfile),
        Route(
            "profile.replace", .put(space + "/profiles/{profile}"), access: .session, evidence: .observed,
            source: "all SDKs", handler: replaceProfile),
        Route(
            "profile.patch", .patch(space + "/profiles/{profile}"), access: .session, evidence: .observed,
            source: "all SDKs", handler: patchProfile),
    ]

    private static let conversationRoutes: [Route<Comapi>] = [
        Route(
            "conversation.create", .post(space + "/conversations"), access: .session, evidence: .observed,
            source: "all SDKs", handler: createConversation),
        Route(
            "conversation.list", .get(space + "/conversations"), access: .session, evidence: .observed,
            source: "all SDKs", handler: listConversations),
        Route(
            "conversation.read", .get(conversation), access: .session, evidence: .observed, source: "all SDKs",
            handler: readConversation),
        Route(
            "conversation.update", .put(conversation), access: .session, evidence: .observed, source: "all SDKs",
            handler: updateConversation),
        Route(
            "conversation.delete", .delete(conversation), access: .session, evidence: .observed, source: "all SDKs",
            handler: deleteConversation),
        Route(
            "participant.list", .get(conversation + "/participants"), access: .session, evidence: .observed,
            source: "all SDKs", handler: listParticipants),
        Route(
            "participant.add", .post(conversation + "/participants"), access: .session, evidence: .observed,
            source: "all SDKs", handler: addParticipants),
        Route(
            "participant.remove", .delete(conversation + "/participants"), access: .session, evidence: .observed,
            source: "all SDKs", handler: removeParticipants),
    ]

    private static let messageRoutes: [Route<Comapi>] = [
        Route(
            "message.send", .post(conversation + "/messages"), access: .session, evidence: .observed,
            source: "all SDKs", handler: sendMessage),
        Route(
            "message.list", .get(conversation + "/messages"), access: .session, evidence: .observed,
            source: "all SDKs", handler: listMessages),
        Route(
            "message.status", .post(conversation + "/messages/statusupdates"), access: .session, evidence: .observed,
            source: "all SDKs", handler: updateStatus),
        Route(
            "event.list", .get(conversation + "/events"), access: .session, evidence: .observed, source: "all SDKs",
            handler: listEvents),
        Route(
            "typing.start", .post(conversation + "/typing"), access: .session, evidence: .observed, source: "all SDKs",
            handler: startTyping),
        Route(
            "typing.stop", .delete(conversation + "/typing"), access: .session, evidence: .observed,
            source: "all SDKs", handler: stopTyping),
    ]

    private static let otherRoutes: [Route<Comapi>] = [
        Route(
            "content.upload", .post(space + "/content"), access: .session, evidence: .observed, source: "all SDKs",
            bodyLimit: ComapiContentStore.largest, handler: uploadContent),
        Route(
            "content.read", .get(space + "/content/{content}"), access: .space, evidence: .ours,
            source: "ours: the url of an upload must lead somewhere", handler: readContent),
        Route(
            "push.click", .get(space + "/pushes/{push}/click"), access: .space, evidence: .ours,
            source: "that a client calls a URL of the push: JS SDK, Android SDK; its place, path and answer are ours",
            handler: clickPush),
        Route(
            "facebook.state", .post(space + "/channels/facebook/state"), access: .session, evidence: .observed,
            // ours: no client sends more than a few members, which are ignored.
            source: "all SDKs", bodyLimit: 4096, handler: stateForFacebook),
        Route(
            "socket.open", .get(space + "/socket"), access: .socket, evidence: .observed, source: "all SDKs",
            handler: openSocket),
        Route(
            "preflight", .options("/apispaces/{rest...}"), access: .anybody, evidence: .observed, source: "JS SDK",
            handler: preflight),
    ]
}

/// What a route of Comapi requires of its caller.
enum ComapiAccess: Sendable {
    /// No requirements.
    case anybody
    /// A path with a configured space.
    case space
    /// The answer to a challenge, in the body.
    case challenge
    /// A session's token.
    case session
    /// A session's token, which may also be in the query.
    case socket
}

/// A request to Comapi with what is known about its sender.
typealias ComapiCall = Call<Comapi>
/// A request to Comapi, matched to its route.
typealias ComapiArrival = Arrival<Comapi>
