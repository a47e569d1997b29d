/// What an entry expects of the answer.
public struct HurlResponse: Sendable, Hashable {
    /// Where `HTTP` stands.
    public let place: HurlPlace
    /// The status; `nil` for `*`.
    public let status: Int?
    /// Field lines that the answer must have among others.
    public var fields: [HurlPair] = []
    /// `[Captures]`: what becomes a variable.
    public var captures: [HurlCapture] = []
    /// `[Asserts]`: what must hold.
    public var asserts: [HurlAssert] = []
    /// The exact content.
    public var body: HurlBody?

    init(place: HurlPlace, status: Int?) {
        self.place = place
        self.status = status
    }
}

/// A variable and where its value is found.
public struct HurlCapture: Sendable, Hashable {
    /// The variable's name.
    public let name: HurlTemplate
    /// Where its value is found.
    public let query: HurlQuery
}

/// Something that must hold of an answer.
public struct HurlAssert: Sendable, Hashable {
    /// What is looked at.
    public let query: HurlQuery
    /// What must hold of it.
    public let predicate: HurlPredicate
    /// The assert as it is written.
    public let source: String
}
