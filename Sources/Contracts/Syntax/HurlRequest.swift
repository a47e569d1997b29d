package import HTTPTypes
package import JSON

/// A name and a value, both possibly with variables.
package struct HurlPair: Sendable, Hashable {
    /// The name.
    package let name: HurlTemplate
    /// The value.
    package let value: HurlTemplate
}

/// The request of an entry.
package struct HurlRequest: Sendable, Hashable {
    /// Where the method is.
    package let place: HurlPlace
    /// The method.
    package let method: HTTPRequest.Method
    /// The URL.
    package let url: HurlTemplate
    /// The field lines.
    package var fields: [HurlPair] = []
    /// `[Query]`: items to append to the URL's query.
    package var query: [HurlPair] = []
    /// `[Form]`: the fields of a form.
    package var form: [HurlPair] = []
    /// `[Cookies]`: the cookies.
    package var cookies: [HurlPair] = []
    /// `[BasicAuth]`: user and password.
    package var credentials: HurlPair?
    /// `[Options]`: settings for this entry.
    package var options: [HurlOption] = []
    /// The content.
    package var body: HurlBody?

    init(place: HurlPlace, method: HTTPRequest.Method, url: HurlTemplate) {
        self.place = place
        self.method = method
        self.url = url
    }
}

/// An entry's option.
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
