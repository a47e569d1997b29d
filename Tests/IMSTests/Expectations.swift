import JSON
import Support
import Testing

extension ReceivedAnswer {
    /// Expects a refusal with the content given in the vendor's spec, and the same in the journal.
    func expectRefusal(
        _ status: Int, _ failure: String, field: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(status, Self.body(failure, field), failure, sourceLocation: sourceLocation)
        expectChallenge(failure, sourceLocation: sourceLocation)
    }

    /// A 401 names the required scheme and the error in its field; no other answer does.
    func expectChallenge(_ failure: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let challenge =
            failure == "token-missing"
            ? #"Bearer realm="ims""#
            : #"Bearer realm="ims", error="invalid_token", error_description="\#(failure)""#
        #expect(self["www-authenticate"] == (status == 401 ? challenge : nil), sourceLocation: sourceLocation)
    }

    /// The body of a failure.
    static func body(_ failure: String, _ field: String? = nil) -> String {
        var error: JSONObject = ["code": .string(failure), "message": .string(messages[failure] ?? "unknown")]
        error["field"] = (field ?? fields[failure]).map(JSON.string)
        return JSON.object(["error": .object(error)]).text
    }

    /// The messages of the vendor's spec, section 5.
    static let messages = [
        "token-missing": "A bearer token is required.", "token-malformed": "The token is not a compact JWT.",
        "alg-not-allowed": "Only RS256 is allowed.", "typ-not-allowed": "The token type must be JWT.",
        "issuer-unknown": "The issuer is not registered.", "kid-required": "The issuer requires a key id.",
        "kid-unknown": "No key has this key id.", "keys-unavailable": "The issuer's keys cannot be fetched.",
        "certificate-expired": "The issuer's certificate is not valid now.",
        "signature-invalid": "The signature does not match.", "claim-missing": "A required claim is missing.",
        "claim-invalid": "A claim has a wrong type.", "token-expired": "The token has expired.",
        "token-not-yet-valid": "The token is not valid yet.", "lifetime-too-long": "The token lives too long.",
        "audience-mismatch": "The audience does not match.", "token-use-mismatch": "The token use does not match.",
        "jti-missing": "A token id is required.", "token-replayed": "The token was used before.",
        "user-unknown": "No user is enrolled for this subject.", "user-not-active": "The user is not activated.",
        "user-deactivated": "The user is deactivated.", "activation-unknown": "The activation id is unknown.",
        "activation-email-mismatch": "The email does not match the enrollment.",
        "activation-code-wrong": "The activation code is wrong.",
        "activation-code-used": "The activation code was used.",
        "activation-code-expired": "The activation code has expired.",
        "subject-mismatch": "The subject is not the enrolled user.",
        "subject-taken": "The subject belongs to another user.", "operator-key-missing": "An operator key is required.",
        "operator-key-wrong": "The operator key is wrong.", "issuer-exists": "The issuer exists.",
        "issuer-not-found": "Not found.", "user-not-found": "Not found.", "trip-not-found": "Not found.",
        "key-source-invalid": "The key source cannot be used.", "private-key-refused": "Send public keys only.",
        "jwks-url-not-allowed": "This URL is not allowed.", "jwks-fetch-failed": "The keys could not be fetched.",
        "enrollment-exists": "The user exists.", "state-conflict": "The user is not in a state for this.",
        "trip-conflict": "The trip exists with other content.", "body-malformed": "The request body cannot be read.",
        "body-invalid": "A member is missing or invalid.", "body-too-large": "The body is too large.",
        "route-not-found": "Not found.", "method-not-allowed": "The method is not allowed.",
        "rate-limited": "Too many requests.", "service-unavailable": "Try again later.",
    ]

    /// The failures' fields that do not depend on the request.
    private static let fields = [
        "alg-not-allowed": "alg", "typ-not-allowed": "typ", "issuer-unknown": "iss", "kid-required": "kid",
        "kid-unknown": "kid", "token-expired": "exp", "lifetime-too-long": "exp", "token-use-mismatch": "token_use",
        "jti-missing": "jti", "token-replayed": "jti", "user-unknown": "sub", "activation-unknown": "activation_id",
        "activation-email-mismatch": "email", "activation-code-wrong": "activation_code",
        "activation-code-used": "activation_code", "activation-code-expired": "activation_code",
        "subject-mismatch": "sub", "subject-taken": "sub", "key-source-invalid": "keys",
        "private-key-refused": "keys", "jwks-url-not-allowed": "keys.url", "jwks-fetch-failed": "keys.url",
        "trip-conflict": "trip_id",
    ]
}
