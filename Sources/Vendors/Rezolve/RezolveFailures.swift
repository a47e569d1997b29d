import Emulation

/// Every failure of Rezolve and of its sample sign-in server RUA; `failures.yaml` defines how each looks.
enum RezolveFailure: String, VendorFailure {
    static let judgedFile: FixtureDigest? = FixtureDigest(0x1D47_4282_B967_39A1)

    case maskedAPIKey = "masked-api-key"
    case maskedNoAuthKey = "masked-no-auth-key"
    case maskedTokenMissing = "masked-token-missing"
    case maskedSignature = "masked-signature"
    case maskedMissingFields = "masked-missing-fields"
    case maskedOtherUser = "masked-other-user"
    case maskedDeviceMismatch = "masked-device-mismatch"
    case tokenLifetimeTooLong = "token-lifetime-too-long"
    case tokenExpired = "token-expired"
    case maskedNotYetValid = "masked-not-yet-valid"
    case registrationDuplicate = "registration-duplicate"
    case bodyMalformed = "body-malformed"
    case bodyMissingFields = "body-missing-fields"
    case bodyWrongType = "body-wrong-type"
    case bodyTooShort = "body-too-short"
    case phoneNotFound = "phone-not-found"
    case addressNotFound = "address-not-found"
    case cardNotFound = "card-not-found"
    case addressInUse = "address-in-use"
    case phoneInUse = "phone-in-use"
    case routeNotFound = "route-not-found"
    case routeNotOffered = "route-not-offered"
    case bodyTooLarge = "body-too-large"
    case serviceUnavailable = "service-unavailable"
    case ruaAPIKeyMissing = "rua-api-key-missing"
    case ruaAPIKeyWrong = "rua-api-key-wrong"
    case ruaNoAuthKey = "rua-no-auth-key"
    case ruaWrongCredentials = "rua-wrong-credentials"
    case ruaTokenMissing = "rua-token-missing"
    case ruaTokenInvalid = "rua-token-invalid"
    case ruaTokenExpired = "rua-token-expired"
    case ruaUserExists = "rua-user-exists"
    case ruaUserNotFound = "rua-user-not-found"
    case ruaWrongPassword = "rua-wrong-password"
    case ruaConfirmCodeWrong = "rua-confirm-code-wrong"
    case ruaBodyInvalid = "rua-body-invalid"
}

/// A handler's decision to answer with one of Rezolve's failures.
typealias RezolveRefusal = Refusal<RezolveFailure>
