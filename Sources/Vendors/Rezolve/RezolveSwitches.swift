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
    enum OnOff: String, CaseIterable { case on, off }
    enum NotBefore: String, CaseIterable { case enforce, ignore }
    enum UserAnswers: String, CaseIterable { case full, schema }

    let authHeader: AuthHeader
    let partnerEntityID: PartnerEntityID
    let deviceCheck: DeviceCheck
    let bearerScheme: BearerScheme
    let registrationTokenReuse: RegistrationTokenReuse
    let expiryNumber: ExpiryNumber
    /// `nil` when lifetimes are unlimited.
    let maximumLifetimeSeconds: Int?
    let leewaySeconds: Int
    let profileDates: ProfileDates
    let pingAfterLogout: PingAfterLogout
    let duplicateRegistration: DuplicateRegistration
    let logoutRevokesCore: YesNo
    let tokenPrefix: TokenPrefix
    let unknownEntity: UnknownEntity
    let addressRequiredFields: AddressRequiredFields
    let panCheck: PANCheck
    let iosSampleRenewal: OnOff
    let notBefore: NotBefore
    let userAnswers: UserAnswers

    init(_ values: SwitchValues) {
        authHeader = values.choice("auth-header", default: .required)
        partnerEntityID = values.choice("partner-entity-id", default: .mustMatch)
        deviceCheck = values.choice("device-check", default: .enforce)
        bearerScheme = values.choice("bearer-scheme", default: .required)
        registrationTokenReuse = values.choice("registration-token-reuse", default: .accept)
        expiryNumber = values.choice("exp-number", default: .any)
        maximumLifetimeSeconds = values.count("max-lifetime-seconds")
        leewaySeconds = values.count("leeway-seconds") ?? 0
        profileDates = values.choice("profile-dates", default: .unixSeconds)
        pingAfterLogout = values.choice("ping-after-logout", default: .expiredToken)
        duplicateRegistration = values.choice("duplicate-registration", default: .fail)
        logoutRevokesCore = values.choice("logout-revokes-core", default: .no)
        tokenPrefix = values.choice("rua-token-prefix", default: .bearer)
        unknownEntity = values.choice("unknown-entity", default: .refuse)
        addressRequiredFields = values.choice("address-required-fields", default: .none)
        panCheck = values.choice("pan-check", default: .anyString)
        iosSampleRenewal = values.choice("ios-sample-renewal", default: .off)
        notBefore = values.choice("nbf", default: .enforce)
        userAnswers = values.choice("rua-user-answers", default: .full)
    }

    /// All switches; only the conditions of `failures.yaml` read `error-envelope` and `message-style`.
    static let declarations: [SwitchDeclaration] = [
        SwitchDeclaration(
            "error-envelope", documented: ErrorEnvelope.bare, observed: .errorsArray,
            about: "whether error objects come bare or inside {\"errors\":[…]}",
            source: "JWT page; older docs _errorhandling.md and QA tests for errors-array"),
        SwitchDeclaration(
            "message-style", documented: MessageStyle.errorPage, observed: .staging,
            about: "the messages of the error page, or those of the staging servers", source: "older docs; QA tests"),
        SwitchDeclaration(
            "auth-header", documented: AuthHeader.required, observed: .ignored,
            about: "whether a login JWT needs auth: v2 in its header", source: "JWT page; Android sample"),
        SwitchDeclaration(
            "partner-entity-id", documented: PartnerEntityID.mustMatch, observed: .any,
            about: "whether partner_entity_id must be the registered one",
            source: "JWT page; Android sample, iOS sample"),
        SwitchDeclaration(
            "device-check", documented: DeviceCheck.enforce, observed: .off,
            about: "whether the device header must equal the claim device_id", source: "JWT page; QA tests"),
        SwitchDeclaration(
            "bearer-scheme", documented: BearerScheme.required, observed: .lenient,
            about: "whether Authorization must start with Bearer exactly once",
            source: "JWT page; Android sample, QA tests"),
        SwitchDeclaration(
            "registration-token-reuse", documented: RegistrationTokenReuse.accept, observed: .refuse,
            about: "whether the registration JWT may open the session", source: "JWT page; later older docs and wiki"),
        SwitchDeclaration(
            "exp-number", documented: ExpiryNumber.any, observed: .any,
            about: "whether exp may have a fraction", source: "ours, after RFC 7519; iOS sample"),
        SwitchDeclaration(
            "max-lifetime-seconds", .count(orWord: "off"), documented: "off", observed: "off",
            about: "how far ahead exp may lie", source: "JWT page gives advice only"),
        SwitchDeclaration(
            "leeway-seconds", .count(orWord: nil), documented: "0", observed: "0",
            about: "how long after exp, and before nbf, a token is accepted",
            source: "QA tests: the sign-in server's library reports 0"),
        SwitchDeclaration(
            "nbf", documented: NotBefore.enforce, observed: .ignore,
            about: "whether a token is refused before its nbf",
            source: "ours, after RFC 7519 section 4.1.5, to which the JWT page conforms"),
        SwitchDeclaration(
            "profile-dates", documented: ProfileDates.unixSeconds, observed: .iso,
            about: "the form of date_created and date_updated", source: "older docs; QA tests"),
        SwitchDeclaration(
            "ping-after-logout", documented: PingAfterLogout.expiredToken, observed: .unauthorized,
            about: "the answer to a renewal after a logout", source: "JWT page; ours"),
        SwitchDeclaration(
            "duplicate-registration", documented: DuplicateRegistration.fail, observed: .fail,
            about: "the answer to a second registration of the same user", source: "ours"),
        SwitchDeclaration(
            "logout-revokes-core", documented: YesNo.no, observed: .no,
            about: "whether core takes tokens of a logged-out session for expired", source: "ours"),
        SwitchDeclaration(
            "rua-token-prefix", documented: TokenPrefix.bearer, observed: .bearer,
            about: "whether accessToken starts with Bearer", source: "ours"),
        SwitchDeclaration(
            "rua-user-answers", documented: UserAnswers.full, observed: .schema,
            about:
                "whether registration answers with the names it was sent, and rua.guest with its sign-ins, or with null",
            source: "wiki; QA tests: schemas"),
        SwitchDeclaration(
            "unknown-entity", documented: UnknownEntity.refuse, observed: .refuse,
            about: "whether a well-signed login JWT for an unknown entity creates that customer", source: "ours"),
        SwitchDeclaration(
            "address-required-fields", documented: AddressRequiredFields.none, observed: .none,
            about: "whether an address needs the five members that the shop needs", source: "older docs"),
        SwitchDeclaration(
            "pan-check", documented: PANCheck.anyString, observed: .anyString,
            about: "whether pan must decrypt to a card number that agrees with pan6 and pan4", source: "ours"),
        SwitchDeclaration(
            "ios-sample-renewal", documented: OnOff.off, observed: .off,
            about: "whether register also answers the renewal that the JWT page's iOS sample sends",
            source: "shape JWT page; mapping ours"),
    ]
}
