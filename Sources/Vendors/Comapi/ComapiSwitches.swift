import Emulation

/// Documented and observed differences in Comapi's behaviour.
struct ComapiSwitches: VendorSwitches {
    enum OnOff: String, CaseIterable { case on, off }
    enum WriteStatus: String, CaseIterable { case ok = "200", created = "201" }

    let acceptsMillisecondTimes: Bool
    let requiresTimeClaims: Bool
    let sessionLifetimeSeconds: Int
    let challengeLifetimeSeconds: Int
    let clockLeewaySeconds: Int
    let hasSingleUseChallenges: Bool
    let acceptsAudienceArray: Bool
    let profileWriteStatus: WriteStatus
    let emitsConversationCreate: Bool
    let acceptsEncodedQuery: Bool
    let acceptsParticipantIDsInBody: Bool
    let echoesFrames: Bool
    let adoptsEarlierSessions: Bool

    init(_ values: SwitchValues) {
        func isOn(_ name: String) -> Bool { values.choice(name, default: OnOff.on) == .on }
        acceptsMillisecondTimes = isOn("accepts-millisecond-times")
        requiresTimeClaims = isOn("requires-time-claims")
        sessionLifetimeSeconds = values.count("session-lifetime") ?? 3600
        challengeLifetimeSeconds = values.count("challenge-lifetime") ?? 900
        clockLeewaySeconds = values.count("clock-leeway") ?? 60
        hasSingleUseChallenges = isOn("single-use-challenges")
        acceptsAudienceArray = isOn("accepts-audience-array")
        profileWriteStatus = values.choice("profile-write-status", default: .ok)
        emitsConversationCreate = isOn("emits-conversation-create")
        acceptsEncodedQuery = isOn("accepts-encoded-query")
        acceptsParticipantIDsInBody = isOn("accepts-participant-ids-in-body")
        echoesFrames = isOn("echoes-frames")
        adoptsEarlierSessions = isOn("adopts-earlier-sessions")
    }

    static let declarations: [SwitchDeclaration] = tokenDeclarations + behaviourDeclarations

    private static let tokenDeclarations: [SwitchDeclaration] = [
        SwitchDeclaration(
            "accepts-millisecond-times", documented: OnOff.on, observed: .off,
            about: "whether exp and iat may count milliseconds", source: "JWT page, Android sample; newer page"),
        SwitchDeclaration(
            "requires-time-claims", documented: OnOff.off, observed: .on, about: "whether exp and iat must be there",
            source: "claim tables of the JWT page and the newer page"),
        SwitchDeclaration(
            "session-lifetime", .number(1...31_622_400), documented: "3600", observed: "600",
            about: "seconds from the start of a session to its end",
            source: "ours; iOS SDK, Session.json of its tests"),
        SwitchDeclaration(
            "challenge-lifetime", .number(1...31_622_400), documented: "900", observed: "900",
            about: "seconds for which a challenge may be answered",
            source: "ours: Android waits up to 300 s, three times"),
        SwitchDeclaration(
            "clock-leeway", .number(0...86_400), documented: "60", observed: "60",
            about: "seconds by which clocks may differ when the app's token is judged", source: "ours"),
        SwitchDeclaration(
            "single-use-challenges", documented: OnOff.on, observed: .on,
            about: "whether a challenge can be answered once only", source: "Android SDK; off: mock of the JS SDK"),
        SwitchDeclaration(
            "accepts-audience-array", documented: OnOff.on, observed: .on,
            about: "whether aud may be an array that holds the Audience", source: "ours, after RFC 7519"),
        SwitchDeclaration(
            "adopts-earlier-sessions", documented: OnOff.on, observed: .on,
            about: "whether a session token that an earlier start of the program issued is still good", source: "ours"),
    ]

    private static let behaviourDeclarations: [SwitchDeclaration] = [
        SwitchDeclaration(
            "profile-write-status", documented: WriteStatus.ok, observed: .ok,
            about: "the status of a profile that was replaced or patched",
            source: "iOS SDK; 201: mock of the JS SDK, and breaks iOS"),
        SwitchDeclaration(
            "emits-conversation-create", documented: OnOff.on, observed: .off,
            about: "whether a new conversation is announced by conversation.create",
            source: "ours; iOS SDK has the frame, Android SDK deprecates it, JS SDK does not list it"),
        SwitchDeclaration(
            "accepts-encoded-query", documented: OnOff.on, observed: .on,
            about: "whether the query of profiles may be part of the path, with an encoded question mark",
            source: "iOS SDK"),
        SwitchDeclaration(
            "accepts-participant-ids-in-body", documented: OnOff.on, observed: .on,
            about: "whether the participants to remove may be in the body of the DELETE", source: "iOS SDK"),
        SwitchDeclaration(
            "echoes-frames", documented: OnOff.on, observed: .on,
            about: "whether echo frames of a socket are sent back", source: "mock of the JS SDK"),
    ]
}
