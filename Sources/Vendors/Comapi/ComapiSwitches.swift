import Emulation

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
