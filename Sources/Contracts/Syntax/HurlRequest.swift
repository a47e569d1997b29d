package import HTTPTypes
package import JSON

/// A name and a value, both possibly with variables.
package struct HurlPair: Sendable, Hashable {
    package let name: HurlTemplate
    package let value: HurlTemplate
}

package struct HurlRequest: Sendable, Hashable {
    package let place: HurlPlace
    package let method: HTTPRequest.Method
    package let url: HurlTemplate
    package var fields: [HurlPair] = []
    /// `[Query]`: items to append to the URL's query.
    package var query: [HurlPair] = []
    package var form: [HurlPair] = []
    package var cookies: [HurlPair] = []
    /// `[BasicAuth]`: user and password.
    package var credentials: HurlPair?
    /// `[Options]`: settings for this entry.
    package var options: [HurlOption] = []
    package var body: HurlBody?
}

package enum HurlOption: Sendable, Hashable {
    /// `variable: name=value`: sets a variable for this and later entries.
    case variable(name: String, value: HurlOptionValue, HurlPlace)
    /// `skip: true`: the request is not sent.
    case skip(Bool)
}

/// The value that an option assigns.
package enum HurlOptionValue: Sendable, Hashable {
    /// `null`, a boolean or a number.
    case constant(JSON)
    /// A text, possibly with variables.
    case text(HurlTemplate)
}
