internal import HTTPTypes

/// Why the engine rejects a request without its handler; the connection closes after each.
enum RequestRejection: Error, Hashable, CaseIterable {
    case malformedRequestLine, malformedTarget, insecureTarget, targetTooLong, unknownMethod, unsupportedVersion
    case bareLineFeed, bareCarriageReturn, malformedField, headTooLarge, invalidHost, invalidContentLength
    case contentTooLarge, invalidTransferEncoding, unknownTransferCoding, unknownExpectation, malformedChunk
    case incompleteRequest, timedOut, notTLS, unexpectedTLS, overfull

    var status: HTTPResponse.Status {
        switch self {
        case .malformedRequestLine, .malformedTarget, .insecureTarget, .bareLineFeed, .bareCarriageReturn,
            .malformedField, .invalidHost, .invalidContentLength, .invalidTransferEncoding, .malformedChunk,
            .incompleteRequest, .notTLS, .unexpectedTLS:
            .badRequest
        case .timedOut: .requestTimeout
        case .contentTooLarge: .contentTooLarge
        case .targetTooLong: .uriTooLong
        case .unknownExpectation: .expectationFailed
        case .headTooLarge: .requestHeaderFieldsTooLarge
        case .unknownMethod, .unknownTransferCoding: .notImplemented
        case .overfull: .serviceUnavailable
        case .unsupportedVersion: .httpVersionNotSupported
        }
    }

    /// The reason in words, with the section that defines it.
    var reason: String {
        switch self {
        case .malformedRequestLine: "the request line is not METHOD TARGET HTTP/1.1 (RFC 9112 section 3)"
        case .malformedTarget: "the request target is not valid (RFC 9112 section 3.2)"
        case .targetTooLong: "the request line is too long (RFC 9112 section 3)"
        case .unknownMethod: "the method is unknown (RFC 9110 section 9.1)"
        case .unsupportedVersion: "the version is not HTTP/1 (RFC 9110 section 15.6.6)"
        case .insecureTarget: "an https URL arrived at a plain-text port (RFC 9110 section 7.4)"
        case .bareCarriageReturn: "a CR without LF (RFC 9112 section 2.2)"
        case .bareLineFeed: "a line ends in LF without CR (RFC 9112 section 2.2)"
        case .malformedField:
            "a field line is not a name without blanks, a colon and a value without controls (RFC 9112 section 5)"
        case .headTooLarge: "the head has too many bytes or lines (RFC 6585 section 5)"
        case .invalidHost: "Host is missing, occurs twice or is not valid (RFC 9112 section 3.2)"
        case .invalidContentLength: "Content-Length is not one number (RFC 9112 section 6.3)"
        case .contentTooLarge: "Content-Length is beyond all bounds (RFC 9110 section 15.5.14)"
        case .invalidTransferEncoding:
            "Transfer-Encoding is not chunked, or is combined with Content-Length or in HTTP/1.0 (RFC 9112 section 6.1)"
        case .unknownTransferCoding: "the transfer coding is not known (RFC 9112 section 6.1)"
        case .unknownExpectation: "Expect is not 100-continue (RFC 9110 section 10.1.1)"
        case .malformedChunk: "the chunked coding is broken (RFC 9112 section 7.1)"
        case .incompleteRequest: "the request ended before it was complete (RFC 9112 section 8)"
        case .timedOut: "the request did not arrive in time (RFC 9110 section 15.5.9)"
        case .unexpectedTLS: "a TLS handshake arrived at the http port"
        case .notTLS: "a plain-text request arrived at the https port"
        case .overfull:
            "this is long, and too much is already on its way to and from all clients (RFC 9110 section 15.6.4)"
        }
    }
}
