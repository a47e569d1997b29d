package import Emulation
package import JSON
package import Tokens

/// The answer to one request, and the journal's entry about it.
package struct ReceivedAnswer: Sendable {
    /// The status code.
    package let status: Int
    /// The fields in order.
    package let fields: [(name: String, value: String)]
    /// The content.
    package let body: [UInt8]
    /// The journal's entry; `nil` for control calls.
    package let entry: JournalEntry?

    /// Text received over a socket, in the form of an answer.
    package static func heard(_ texts: [String]) -> ReceivedAnswer {
        ReceivedAnswer(status: 200, fields: [], body: Array(texts.joined(separator: " ").utf8), entry: nil)
    }

    /// The content as text.
    package var text: String { String(decoding: body, as: UTF8.self) }

    /// The content as JSON; `null` when it is not JSON.
    package var json: JSON { (try? JSON.parse(body)) ?? .null }

    /// The name of the failure in the journal.
    package var failure: String? { entry?.record.failure }

    /// The checks in the journal.
    package var findings: [Finding] { entry?.findings ?? [] }

    /// The outcome of a check in the journal; `nil` when it was not made.
    package func outcome(of check: String) -> Finding.Outcome? { findings.first { $0.check == check }?.outcome }

    /// The value of the field with that name, ignoring case.
    package subscript(field: String) -> String? {
        fields.first { $0.name.lowercased() == field.lowercased() }?.value
    }
}
