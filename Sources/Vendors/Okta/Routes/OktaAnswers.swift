import Emulation
import HTTPTypes
import JSON
import Wire

extension HTTPField.Name {
    /// Source: docs:reference/core-okta-api; clients repeat it as `X-Okta-Retry-For` (observed, swift, kotlin).
    static let oktaRequestID = Self("X-Okta-Request-Id") ?? .eTag
    static let pragma = Self("Pragma") ?? .cacheControl
}

/// The parts that all answers of Okta have.
extension Okta {
    func finish(
        _ response: inout Response, to request: Request, _ identifiers: IdentifierSource,
        _ switches: () -> OktaSwitches
    ) {
        response.fields[.oktaRequestID] = identifiers.oktaID(ofLength: 23, after: "req")
        allowOrigin(&response, to: request)
        guard response.fields[.contentType]?.hasPrefix("application/json") == true else { return }
        if Self.hasBareType(request.path) {
            // Some clients take no type with parameters here (guide:dpop; observed, kotlin).
            response.fields[.contentType] = "application/json"
            response.fields[.cacheControl] = "no-cache, no-store"
            response.fields[.pragma] = "no-cache"
        } else {
            response.fields[.contentType] = "application/json;charset=UTF-8"
        }
    }

    /// Whether the path is that of the token endpoint or its like.
    private static func hasBareType(_ path: Substring) -> Bool {
        path.hasPrefix("/oauth2/") && bareTypeEndings.contains { path.utf8.ends(with: $0) }
    }

    private static let bareTypeEndings: [StaticString] = [
        "/v1/token", "/v1/par", "/v1/device/authorize", "/v1/primary-authenticate", "/v1/oob-authenticate",
        "/v1/challenge",
    ]
}

extension Substring.UTF8View {
    fileprivate func ends(with ending: StaticString) -> Bool {
        ending.withUTF8Buffer { suffix($0.count).elementsEqual($0) }
    }
}

extension IdentifierSource {
    private static let letters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    private static let base64URL = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Letters and digits, as Okta's ids have them, after a prefix.
    func oktaID(ofLength length: Int, after prefix: StaticString = "") -> String {
        text(length, of: Self.letters, after: prefix)
    }

    /// Characters of base64url, as opaque tokens have them.
    func opaque(ofLength length: Int) -> String { text(length, of: Self.base64URL) }

    /// Characters of an alphabet, after a prefix.
    func text(_ length: Int, of alphabet: [UInt8], after prefix: StaticString = "") -> String {
        let start = prefix.utf8CodeUnitCount
        return String(unsafeUninitializedCapacity: start + length) { bytes in
            prefix.withUTF8Buffer { for place in $0.indices { bytes[place] = $0[place] } }
            // Ten characters of 62 or 64 from each draw of 64 bits.
            var rest: UInt64 = 0
            for place in 0..<length {
                if place.isMultiple(of: 10) { rest = next() }
                bytes[start + place] = alphabet[Int(rest % UInt64(alphabet.count))]
                rest /= UInt64(alphabet.count)
            }
            return start + length
        }
    }
}
