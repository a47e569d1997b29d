import Emulation
import HTTPTypes
import Tokens
import Wire

/// What the field `Authorization` of a request says under Okta's own scheme. Source: postman; validator page.
enum OktaSSWS: Sendable {
    case absent
    /// Several lines, which count as one value (RFC 9110 section 5.3).
    case repeated
    /// Another scheme, or none.
    case other
    case value(String)

    /// The scheme's case is ignored (RFC 9110 section 11.1). The API token may follow without a blank (observed, pysdk
    /// 3.4.6).
    init(_ fields: FieldLines) {
        guard let text = fields[.authorization] else {
            self = .absent
            return
        }
        let scheme = text.prefix(4)
        let value = text.dropFirst(4).drop { $0 == " " }
        guard !fields.isRepeated(.authorization) else {
            self = .repeated
            return
        }
        guard scheme.lowercased() == "ssws", !value.isEmpty else {
            self = .other
            return
        }
        self = .value(String(value))
    }

    /// The value under the scheme.
    var text: String? { if case .value(let text) = self { text } else { nil } }

    /// What is there in place of the expected value, without anything that may be secret.
    var found: Fact {
        switch self {
        case .absent: .nothing("no Authorization header")
        case .repeated: .text("several Authorization headers")
        case .other: .text("Authorization with another scheme than SSWS")
        case .value(let text):
            text.count(where: { $0 == "." }) == 2 ? .text("SSWS and a token") : .text("SSWS and a value without dots")
        }
    }
}
