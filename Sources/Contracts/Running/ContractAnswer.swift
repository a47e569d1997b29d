/// The answer to a case's request.
package struct ContractAnswer: Sendable {
    package let status: Int
    /// The fields in order.
    package let fields: [(name: String, value: String)]
    package let body: [UInt8]

    package init(status: Int, fields: [(name: String, value: String)], body: [UInt8]) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// The content as text; invalid UTF-8 is replaced.
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The values of all lines with that name, case-insensitively.
    func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}

/// Why a case's request has no answer, as a sentence.
package struct ContractSendingProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The sentence.
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
