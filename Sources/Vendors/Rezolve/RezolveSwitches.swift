import Emulation

/// Documented and observed differences in Rezolve's behaviour.
struct RezolveSwitches: VendorSwitches {
    enum ErrorEnvelope: String, CaseIterable { case bare, errorsArray = "errors-array" }
    enum MessageStyle: String, CaseIterable { case errorPage = "error-page", staging }
    enum AuthHeader: String, CaseIterable { case required, ignored }
    enum PartnerEntityID: String, CaseIterable { case mustMatch = "must-match", any }
    enum DeviceCheck: String, CaseIterable { case enforce, off, ifPresent = "if-present" }
    enum BearerScheme: String, CaseIterable { case required, lenient }
    enum RegistrationTokenReuse: String, CaseIterable { case accept, refuse }
    enum ExpiryNumber: String, CaseIterable { case any, integer }
    enum ProfileDates: String, CaseIterable { case unixSeconds = "unix-seconds", iso }
    enum PingAfterLogout: String, CaseIterable { case expiredToken = "expired-token", unauthorized }
    enum DuplicateRegistration: String, CaseIterable { case fail, returnExisting = "return-existing" }
    enum YesNo: String, CaseIterable { case yes, no }
    enum TokenPrefix: String, CaseIterable { case bearer, none }
    enum UnknownEntity: String, CaseIterable { case refuse, adopt }
    enum AddressRequiredFields: String, CaseIterable { case none, shop }
    enum PANCheck: String, CaseIterable { case anyString = "any-string", decrypt }
    enum NotBefore: String, CaseIterable { case enforce, ignore }
    enum UserAnswers: String, CaseIterable { case full, schema }

    var authHeader = AuthHeader.required
    var partnerEntityID = PartnerEntityID.mustMatch
    var deviceCheck = DeviceCheck.enforce
    var bearerScheme = BearerScheme.required
    var registrationTokenReuse = RegistrationTokenReuse.accept
    var expiryNumber = ExpiryNumber.any
    /// `nil` when lifetimes are unlimited.
    var maximumLifetimeSeconds: Int?
    var leewaySeconds = 0
    var profileDates = ProfileDates.unixSeconds
    var pingAfterLogout = PingAfterLogout.expiredToken
    var duplicateRegistration = DuplicateRegistration.fail
    var logoutRevokesCore = YesNo.no
    var tokenPrefix = TokenPrefix.bearer
    var unknownEntity = UnknownEntity.refuse
    var addressRequiredFields = AddressRequiredFields.none
    var panCheck = PANCheck.anyString
    var iosSampleRenewal = false
    var notBefore = NotBefore.enforce
    var userAnswers = UserAnswers.full

    mutating func code(_ coder: inout SwitchCoder) {
        coder.condition(
            "error-envelope", documented: ErrorEnvelope.bare, observed: .errorsArray,
            about: "whether error objects come bare or inside {\"errors\":[…]}",
            source: "JWT page; older docs _errorhandling.md and QA tests for errors-array")
        coder.condition(
            "message-style", documented: MessageStyle.errorPage, observed: .staging,
            about: "the messages of the error page, or those of the staging servers", source: "older docs; QA tests")
        coder.choice(
            "auth-header", &authHeader, observed: .ignored, about: "whether a login JWT needs auth: v2 in its header",
            source: "JWT page; Android sample")
        coder.choice(
            "partner-entity-id", &partnerEntityID, observed: .any,
            about: "whether partner_entity_id must be the registered one",
            source: "JWT page; Android sample, iOS sample")
        coder.choice(
            "device-check", &deviceCheck, observed: .off,
            about: "whether the device header must equal the claim device_id", source: "JWT page; QA tests")
        coder.choice(
            "bearer-scheme", &bearerScheme, observed: .lenient,
            about: "whether Authorization must start with Bearer exactly once",
            source: "JWT page; Android sample, QA tests")
        coder.choice(
            "registration-token-reuse", &registrationTokenReuse, observed: .refuse,
            about: "whether the registration JWT may open the session", source: "JWT page; later older docs and wiki")
        coder.choice(
            "exp-number", &expiryNumber, about: "whether exp may have a fraction",
            source: "ours, after RFC 7519; iOS sample")
        coder.limit(
            "max-lifetime-seconds", &maximumLifetimeSeconds, about: "how far ahead exp may lie",
            source: "JWT page gives advice only")
        coder.count(
            "leeway-seconds", &leewaySeconds, about: "how long after exp, and before nbf, a token is accepted",
            source: "QA tests: the sign-in server's library reports 0")
        coder.choice(
            "nbf", &notBefore, observed: .ignore, about: "whether a token is refused before its nbf",
            source: "ours, after RFC 7519 section 4.1.5, to which the JWT page conforms")
        coder.choice(
            "profile-dates", &profileDates, observed: .iso, about: "the form of date_created and date_updated",
            source: "older docs; QA tests")
        coder.choice(
            "ping-after-logout", &pingAfterLogout, observed: .unauthorized,
            about: "the answer to a renewal after a logout", source: "JWT page; ours")
        coder.choice(
            "duplicate-registration", &duplicateRegistration,
            about: "the answer to a second registration of the same user", source: "ours")
        coder.choice(
            "logout-revokes-core", &logoutRevokesCore,
            about: "whether core treats tokens of a logged-out session as expired", source: "ours")
        coder.choice("rua-token-prefix", &tokenPrefix, about: "whether accessToken starts with Bearer", source: "ours")
        coder.choice(
            "rua-user-answers", &userAnswers, observed: .schema,
            about:
                "whether registration answers with the names it was sent, and rua.guest with its sign-ins, or with null",
            source: "wiki; QA tests: schemas")
        coder.choice(
            "unknown-entity", &unknownEntity,
            about: "whether a well-signed login JWT for an unknown entity creates that customer", source: "ours")
        coder.choice(
            "address-required-fields", &addressRequiredFields,
            about: "whether an address needs the five members that the shop needs", source: "older docs")
        coder.choice(
            "pan-check", &panCheck, about: "whether pan must decrypt to a card number that agrees with pan6 and pan4",
            source: "ours")
        coder.flag(
            "ios-sample-renewal", &iosSampleRenewal,
            about: "whether register also answers the renewal that the JWT page's iOS sample sends",
            source: "shape JWT page; mapping ours")
    }
}
