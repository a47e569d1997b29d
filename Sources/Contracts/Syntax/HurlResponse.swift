/// The answer that an entry expects.
public struct HurlResponse: Sendable, Hashable {
    /// Where `HTTP` is.
    public let place: HurlPlace
    /// The status; `nil` for `*`.
    public let status: Int?
    /// Field lines that the answer must include.
    public var fields: [HurlPair] = []
    /// `[Captures]`: variables to set from the answer.
    public var captures: [HurlCapture] = []
    /// `[Asserts]`: claims that must hold.
    public var asserts: [HurlAssert] = []
    /// The exact content.
    public var body: HurlBody?

    init(place: HurlPlace, status: Int?) {
        self.place = place
        self.status = status
    }
}

/// A variable and the query for its value.
public struct HurlCapture: Sendable, Hashable {
    /// The variable's name.
    public let name: HurlTemplate
    /// The query for its value.
    public let query: HurlQuery
}

/// A claim about an answer.
public struct HurlAssert: Sendable, Hashable {
    /// What is examined.
    public let query: HurlQuery
    /// What must hold of it.
    public let predicate: HurlPredicate
    /// The assert as written.
    public let source: String
}
