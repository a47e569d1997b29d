public import HTTPTypes

extension HTTPResponse.Status {
    /// The status with the reason phrase of RFC 9110 section 15, RFC 6585 or RFC 4918, if they define one.
    public init(standard code: Int) {
        self = Self.named.first { $0.code == code } ?? Self(code: code)
    }

    private static let named: [Self] = [
        .ok, .created, .accepted, .noContent, .movedPermanently, .found, .seeOther, .notModified, .temporaryRedirect,
        .permanentRedirect, .badRequest, .unauthorized, Self(code: 402, reasonPhrase: "Payment Required"), .forbidden,
        .notFound, .methodNotAllowed, .notAcceptable, .requestTimeout, .conflict, .gone, .lengthRequired,
        .preconditionFailed, .contentTooLarge, .uriTooLong, .unsupportedMediaType, .unprocessableContent,
        .preconditionRequired, .tooManyRequests, .internalServerError, .notImplemented, .badGateway,
        .serviceUnavailable, .gatewayTimeout,
    ]
}
