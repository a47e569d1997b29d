public import Emulation
public import JSON
public import Tokens

/// The answer to one request, and the journal's entry about it.
public struct ReceivedAnswer: Sendable {
    /// The status code.
    public let status: Int
    /// The fields in order.
    public let fields: [(name: String, value: String)]
    /// The content.
    public let body: [UInt8]
    /// The journal's entry; `nil` for control calls.
    public let entry: JournalEntry?

    /// Text received over a socket, in the form of an answer.
    public static func heard(_ texts: [String]) -> ReceivedAnswer {
        ReceivedAnswer(status: 200, fields: [], body: Array(texts.joined(separator: " ").utf8), entry: nil)
    }

    /// The content as text.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The content as JSON; `null` when it is not JSON.
    public var json: JSON { (try? JSON.parse(body)) ?? .null }

    /// The name of the failure in the journal.
    public var failure: String? { entry?.record.failure }

    /// The checks in the journal.
    public var findings: [Finding] { entry?.findings ?? [] }

    /// The outcome of a check in the journal; `nil` when it was not made.
    public func outcome(of check: String) -> Finding.Outcome? { findings.first { $0.check == check }?.outcome }

    /// The value of the field with that name, ignoring case.
    public subscript(field: String) -> String? {
        fields.first { $0.name.lowercased() == field.lowercased() }?.value
    }
}
