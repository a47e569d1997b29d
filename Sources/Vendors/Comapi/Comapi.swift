package import Emulation
import HTTPTypes
import JSON
import Wire

extension VendorLoader {
    /// Comapi, the messaging part of Dotdigital.
    package static let comapi = VendorLoader(Comapi.self)
}

/// Comapi, a backend for in-app messaging: sessions, profiles, conversations, push, content and a live event socket.
///
/// It emulates what the vendor's SDKs call. It does not emulate the administration of accounts, whose spaces come from
/// `accounts.yaml`, or the delivery of pushes, which are only recorded.
final class Comapi: Vendor {
    typealias State = ComapiState
    typealias Switches = ComapiSwitches
    typealias SocketLabel = ComapiCaller

    let accounts: ComapiAccounts
    let recentTokens = RecentReadings<ComapiSessionToken>()
    let sessionKeys = ComapiSessionKeys()

    init(fixtures: VendorFixtures) throws(FixtureProblem) { accounts = try ComapiAccounts(fixtures) }

    static let identity = VendorIdentity(
        id: "comapi", title: "Comapi", prefixes: ["/apispaces"],
        // A base URL that ends in a slash gives `//apispaces` (observed, JS SDK); accepting it is ours.
        repeatedSlashes: .collapseLeading, ignoresTrailingSlash: false, rewrite: ComapiPath.rewrite,
        // ours: the SDKs move larger parts of messages to the content route.
        bodyLimit: 256 * 1024, unreadParameters: unreadParameters)

    /// Documented parameters and members without effect here. Source: the descriptions of the vendor's successor.
    private static let unreadParameters = [
        "conversation.create": ["messageScope"], "conversation.list": ["includeDeleted"],
        "conversation.read": ["includeDeleted"], "message.send": ["direction", "from"],
        "profile.read": ["includeDeleted"], "profile.replace": ["undelete"],
        "profile.patch": ["allowcreate", "deletes"],
    ]

    private static let space = "/apispaces/{space}"
    private static let session = space + "/sessions/{session}"
    private static let conversation = space + "/conversations/{conversation}"

    /// What most calls have: all SDKs make them, with a session's token.
    private static let common = group(access: .session, evidence: .observed, source: "all SDKs")

    static let routes = [
        common.route("session.start", .get(space + "/sessions/start"), access: .space, handler: startSession),
        common.route(
            "session.create", .post(space + "/sessions"), access: .challenge,
            secrets: ["authenticationToken", "token", "registrationId"], handler: createSession),
        common.route("session.read", .get(session), source: "JS SDK, Android SDK", handler: readSession),
        common.route("session.end", .delete(session), handler: endSession),
        common.route("push.register", .put(session + "/push"), handler: registerPush),
        common.route("push.remove", .delete(session + "/push"), source: "JS SDK", handler: removePush),

        common.route("profile.query", .get(space + "/profiles"), access: .query, handler: queryProfiles),
        common.route("profile.read", .get(space + "/profiles/{profile}"), handler: readProfile),
        common.route("profile.replace", .put(space + "/profiles/{profile}"), handler: replaceProfile),
        common.route("profile.patch", .patch(space + "/profiles/{profile}"), handler: patchProfile),

        common.route("conversation.create", .post(space + "/conversations"), handler: createConversation),
        common.route("conversation.list", .get(space + "/conversations"), handler: listConversations),
        common.route("conversation.read", .get(conversation), handler: readConversation),
        common.route("conversation.update", .put(conversation), handler: updateConversation),
        common.route("conversation.delete", .delete(conversation), handler: deleteConversation),
        common.route("participant.list", .get(conversation + "/participants"), handler: listParticipants),
        common.route("participant.add", .post(conversation + "/participants"), handler: addParticipants),
        common.route("participant.remove", .delete(conversation + "/participants"), handler: removeParticipants),

        common.route("message.send", .post(conversation + "/messages"), handler: sendMessage),
        common.route("message.list", .get(conversation + "/messages"), handler: listMessages),
        common.route("message.status", .post(conversation + "/messages/statusupdates"), handler: updateStatus),
        common.route("event.list", .get(conversation + "/events"), handler: listEvents),
        common.route("typing.start", .post(conversation + "/typing"), handler: notify(isTyping: true)),
        common.route("typing.stop", .delete(conversation + "/typing"), handler: notify(isTyping: false)),

        common.route(
            "content.upload", .post(space + "/content"), access: .upload, bodyLimit: ComapiContent.largest,
            handler: uploadContent),
        Route(
            "content.read", .get(space + "/content/{content}"), access: .space, evidence: .ours,
            source: "ours: the url of an upload must lead somewhere", handler: readContent),
        Route(
            "push.click", .get(space + "/pushes/{push}/click"), access: .space, evidence: .ours,
            source: "that a client calls a URL of the push: JS SDK, Android SDK; its place, path and answer are ours",
            handler: clickPush),
        // ours: no client sends more than a few members, which are ignored.
        common.route(
            "facebook.state", .post(space + "/channels/facebook/state"), bodyLimit: 4096, handler: stateForFacebook),
        common.route("socket.open", .get(space + "/socket"), access: .socket, handler: openSocket),
        common.route(
            "preflight", .options("/apispaces/{rest...}"), access: .anybody, source: "JS SDK", handler: preflight),
    ]
}

enum ComapiAccess: Sendable {
    case anybody
    /// A path with a configured space.
    case space
    /// The answer to a challenge, in the body.
    case challenge
    case session
    /// The same, for profiles by a query that may be part of the path.
    case query
    /// The same, with a body that is read before the state is locked.
    case upload
    /// A session's token, which may also be in the query.
    case socket
}

extension Comapi {
    static func security(of access: ComapiAccess) -> [[SecurityScheme]] {
        switch access {
        // The answer to a challenge is content.
        case .anybody, .space, .challenge: []
        case .session, .query, .upload: [[.bearer]]
        case .socket: [[.bearer], [.key("token", in: "query")]]
        }
    }
}

typealias ComapiCall = Call<Comapi>
typealias ComapiArrival = Arrival<Comapi>

/// CORS for browsers. Without these fields a browser hides the response from the page (observed, JS SDK).
extension Comapi {
    func finish(
        _ response: inout Response, to request: Request, _ identifiers: IdentifierSource,
        _ switches: () -> ComapiSwitches
    ) {
        response.fields[.accessControlAllowOrigin] = "*"
        // Otherwise the JS SDK never sees a tag, and never sends If-Match (observed).
        response.fields[.accessControlExposeHeaders] = "ETag"
        if response.fields[.contentType]?.hasPrefix("application/json") == true, response.fields[.cacheControl] == nil,
            response.fields[.xContentTypeOptions] == nil
        {
            response.fields[.cacheControl] = "no-store"
        }
    }

    /// Answers a browser's preflight request without a token and without looking at the space.
    static func preflight(_ call: inout ComapiCall, _ state: inout State) throws(Refused) -> Reply {
        .respond(
            .preflight(
                methods: "GET, POST, PUT, PATCH, DELETE, OPTIONS",
                fields: "authorization, cache-control, content-type, content-filename, if-match, if-modified-since, "
                    + "pragma, x-understudy-sandbox"))
    }
}

/// Spellings of paths that clients of Comapi are known to send.
enum ComapiPath {
    private static let encodedQuery = "profiles?"

    @Sendable static func rewrite(_ segments: inout [Substring]) {
        // The iOS SDK encodes the query into the path: `/profiles%3Femail=a@b.c` (observed).
        if segments.count == 3, segments[2].utf8.starts(with: encodedQuery.utf8) { segments[2] = "profiles" }
        // The mock of the JS SDK spells it `statusUpdates` (observed).
        if segments.count == 6, segments[4] == "messages", segments[5].utf8.count == 13 {
            let lowercased = segments[5].lowercased()
            if lowercased == "statusupdates" { segments[5] = "statusupdates" }
        }
    }

    /// The query after an encoded question mark in a decoded path; `nil` without one.
    static func encodedQuery(in path: Substring) -> String? {
        guard let last = path.split(separator: "/", omittingEmptySubsequences: false).last,
            let text = PercentEncoding.decode(last), text.utf8.starts(with: encodedQuery.utf8)
        else { return nil }
        return String(text.dropFirst(encodedQuery.count))
    }
}

/// An id that clients choose: any text, compared byte by byte.
typealias ComapiID = ExactText

/// Documented and observed differences in Comapi's behaviour.
struct ComapiSwitches: VendorSwitches {
    enum WriteStatus: String, CaseIterable { case ok = "200", created = "201" }

    var acceptsMillisecondTimes = true
    var requiresTimeClaims = false
    var sessionLifetimeSeconds = 3600
    var challengeLifetimeSeconds = 900
    var clockLeewaySeconds = 60
    var hasSingleUseChallenges = true
    var acceptsAudienceArray = true
    var profileWriteStatus = WriteStatus.ok
    var emitsConversationCreate = true
    var acceptsEncodedQuery = true
    var acceptsParticipantIDsInBody = true
    var echoesFrames = true
    var adoptsEarlierSessions = true

    mutating func code(_ coder: inout SwitchCoder) {
        coder.flag(
            "accepts-millisecond-times", &acceptsMillisecondTimes, observed: false,
            about: "whether exp and iat may count milliseconds", source: "JWT page, Android sample; newer page")
        coder.flag(
            "requires-time-claims", &requiresTimeClaims, observed: true, about: "whether exp and iat must be present",
            source: "claim tables of the JWT page and the newer page")
        coder.count(
            "session-lifetime", &sessionLifetimeSeconds, in: 1...31_622_400, observed: 600,
            about: "seconds from the start of a session to its end", source: "ours; iOS SDK, Session.json of its tests")
        coder.count(
            "challenge-lifetime", &challengeLifetimeSeconds, in: 1...31_622_400,
            about: "seconds for which a challenge may be answered",
            source: "ours: Android waits up to 300 s, three times")
        coder.count(
            "clock-leeway", &clockLeewaySeconds, in: 0...86_400,
            about: "seconds by which clocks may differ when the app's token is judged", source: "ours")
        coder.flag(
            "single-use-challenges", &hasSingleUseChallenges, about: "whether a challenge can be answered once only",
            source: "Android SDK; off: mock of the JS SDK")
        coder.flag(
            "accepts-audience-array", &acceptsAudienceArray,
            about: "whether aud may be an array that holds the Audience", source: "ours, after RFC 7519")
        coder.flag(
            "adopts-earlier-sessions", &adoptsEarlierSessions,
            about: "whether a session token that an earlier start of the program issued is still valid", source: "ours")
        coder.choice(
            "profile-write-status", &profileWriteStatus, about: "the status of a profile that was replaced or patched",
            source: "iOS SDK; 201: mock of the JS SDK, and breaks iOS")
        coder.flag(
            "emits-conversation-create", &emitsConversationCreate, observed: false,
            about: "whether a new conversation is announced by conversation.create",
            source: "ours; iOS SDK has the frame, Android SDK deprecates it, JS SDK does not list it")
        coder.flag(
            "accepts-encoded-query", &acceptsEncodedQuery,
            about: "whether the query of profiles may be part of the path, with an encoded question mark",
            source: "iOS SDK")
        coder.flag(
            "accepts-participant-ids-in-body", &acceptsParticipantIDsInBody,
            about: "whether the participants to remove may be in the body of the DELETE", source: "iOS SDK")
        coder.flag(
            "echoes-frames", &echoesFrames, about: "whether echo frames of a socket are sent back",
            source: "mock of the JS SDK")
    }
}
