public import HTTPTypes
public import JSON

/// A name and a value, both possibly with variables.
public struct HurlPair: Sendable, Hashable {
    /// The name.
    public let name: HurlTemplate
    /// The value.
    public let value: HurlTemplate
}

/// The request of an entry.
public struct HurlRequest: Sendable, Hashable {
    /// Where the method is.
    public let place: HurlPlace
    /// The method.
    public let method: HTTPRequest.Method
    /// The URL.
    public let url: HurlTemplate
    /// The field lines.
    public var fields: [HurlPair] = []
    /// `[Query]`: items to append to the URL's query.
    public var query: [HurlPair] = []
    /// `[Form]`: the fields of a form.
    public var form: [HurlPair] = []
    /// `[Cookies]`: the cookies.
    public var cookies: [HurlPair] = []
    /// `[BasicAuth]`: user and password.
    public var credentials: HurlPair?
    /// `[Options]`: settings for this entry.
    public var options: [HurlOption] = []
    /// The content.
    public var body: HurlBody?

    init(place: HurlPlace, method: HTTPRequest.Method, url: HurlTemplate) {
        self.place = place
        self.method = method
        self.url = url
    }
}

/// An entry's option.
public enum HurlOption: Sendable, Hashable {
    /// `variable: name=value`: sets a variable for this and later entries.
    case variable(name: String, value: HurlOptionValue, HurlPlace)
    /// `skip: true`: the request is not sent.
    case skip(Bool)
}

/// The value that an option assigns.
public enum HurlOptionValue: Sendable, Hashable {
    /// `null`, a boolean or a number.
    case constant(JSON)
    /// A text, possibly with variables.
    case text(HurlTemplate)
}
