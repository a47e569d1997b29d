import Emulation
import JSON

/// For whom a message or block is (ours): everybody, or those with certain `registered` ids.
struct ContentAudience: Sendable {
    /// `nil` for everybody.
    private let registered: Set<ExactText>?

    /// Whether a customer gets the content.
    func includes(_ customer: ContentReader) -> Bool {
        guard let registered else { return true }
        return customer.registered.map { registered.contains(ExactText($0)) } ?? false
    }

    /// Whether somebody is left out.
    var isLimited: Bool { registered != nil }

    /// Reads the member `audience`.
    init(_ node: FixtureNode?) throws(FixtureProblem) {
        guard let node else {
            registered = nil
            return
        }
        var registered: Set<ExactText> = []
        for element in try node.elements() { registered.insert(ExactText(try element.string())) }
        self.registered = registered
    }
}

/// For whom content is made: what personalised content may use of a customer.
struct ContentReader: Sendable {
    /// The number of the customer in the project; `nil` for somebody unknown.
    let number: Int?
    /// The value of the default hard id.
    let registered: String?
    /// The properties and, behind them, the hard ids by name.
    let values: JSONObject

    /// Somebody of whom nothing is known.
    static let anonymous = ContentReader(number: nil, registered: nil, values: [:])
}
