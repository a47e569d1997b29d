/// The answer that an entry expects.
package struct HurlResponse: Sendable, Hashable {
    package let place: HurlPlace
    /// The status; `nil` for `*`.
    package let status: Int?
    /// Field lines that the answer must include.
    package var fields: [HurlPair] = []
    /// `[Captures]`: variables to set from the answer.
    package var captures: [HurlCapture] = []
    /// `[Asserts]`: claims that must hold.
    package var asserts: [HurlAssert] = []
    /// The exact content.
    package var body: HurlBody?
}

/// A variable and the query for its value.
package struct HurlCapture: Sendable, Hashable {
    package let name: HurlTemplate
    package let query: HurlQuery
}

/// A claim about an answer.
package struct HurlAssert: Sendable, Hashable {
    /// What is examined.
    package let query: HurlQuery
    /// What must hold of it.
    package let predicate: HurlPredicate
    /// The assert as written.
    package let source: String
}
