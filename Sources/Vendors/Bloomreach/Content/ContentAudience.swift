import Emulation
import JSON

/// Who sees a message or block (ours): everyone, or customers with certain `registered` ids.
struct ContentAudience: Sendable {
    /// `nil` for everyone.
    private let registered: Set<ExactText>?

    func includes(_ customer: ContentReader) -> Bool {
        guard let registered else { return true }
        return customer.registered.map { registered.contains(ExactText($0)) } ?? false
    }

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

/// The reader of content: the customer data that personalised content may use.
struct ContentReader: Sendable {
    /// The number of the customer in the project; `nil` for an unknown customer.
    let number: Int?
    /// The value of the default hard id.
    let registered: String?
    /// The properties, followed by the hard ids by name.
    let values: JSONObject

    /// A reader without any known data.
    static let anonymous = ContentReader(number: nil, registered: nil, values: [:])
}
