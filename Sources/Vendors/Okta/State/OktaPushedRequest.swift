import Emulation
import JSON
import Tokens

/// An authorization request that a client pushed (RFC 9126).
struct OktaPushedRequest: Sendable, Equatable {
    /// ours: the newest of a sandbox are kept, as far as they fit into memory.
    static let bound = RecordBound(count: 1000, bytes: 8 << 20, share: nil)

    var request = OktaAuthorizeRequest()
    var expires = Moment(unixSeconds: 0)
    /// Whether the client has got a code or an error for it.
    var isUsed = false

    /// The `request_uri`.
    var id: String { request.pushedID ?? "" }

    /// A new `request_uri`. Its form is inferred: Okta's example decodes to such a text (ref).
    static func newID(_ identifiers: IdentifierSource) -> String {
        "urn:okta:" + Base64URL.encode(Array("\(identifiers.opaque(ofLength: 43)):".utf8))
    }
}

extension OktaPushedRequest: KeyedRecord, CodedRecord {
    var key: ExactText { ExactText(id) }
    var memory: Int { request.memory }
    var secretText: String? { request.sessionToken }

    mutating func code(_ coder: inout RecordCoder) {
        coder.member("request", &request)
        coder.end("expires", &expires)
        coder.member("used", &isUsed, or: false)
        coder.check(request.pushedID != nil, or: "the request has no member pushed, which is its request_uri")
    }
}
