/// What came back for a request of a case.
public struct ContractAnswer: Sendable {
    /// The status.
    public let status: Int
    /// The fields in order.
    public let fields: [(name: String, value: String)]
    /// The content.
    public let body: [UInt8]

    /// An answer of these parts.
    public init(status: Int, fields: [(name: String, value: String)], body: [UInt8]) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The content as text; what is no UTF-8 in it is replaced.
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The values of all lines of that name, in any case of its letters.
    func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}

/// Why a request of a case has no answer, as a sentence.
public struct ContractSendingProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The sentence.
    public let description: String

    /// A problem that is told by that sentence.
    public init(_ description: String) {
        self.description = description
    }
}
