import JSON

/// Why a page is there again.
struct OktaPageAlert: Sendable {
    var failure: String
    /// What the user reads.
    var text: String
    /// The fields to correct, by name.
    var fields: [String] = []
    /// What a client gets that asks for JSON, with status 400; `nil` means `{"failure": …}`.
    var answer: JSON?

    /// The id by which fields refer to it.
    static let id = "alert"

    var html: OktaHTML {
        .tag("p", ["role": "alert", "id": Self.id, "class": "alert", "data-failure": failure], text)
    }

    var json: JSON { answer ?? ["failure": .string(failure)] }
}
