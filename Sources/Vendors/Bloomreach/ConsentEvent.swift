import Emulation
import JSON
import Tokens

/// An event by which a customer agrees to a category, or no longer does.
///
/// Source: that consents are events of type `consent` with `action` (`accept`, `reject`), `category` and `valid_until`
/// (`unlimited`, or Unix seconds) is documented, vendor's page on consent management. That the attribute follows at once, and
/// that other events of the type change nothing, is inferred; that categories of no project are not kept is ours.
struct ConsentEvent {
    /// The type of these events.
    static let type = "consent"

    let category: String
    private let isAccepted: Bool
    /// Unix seconds from which the consent is over; `nil` for never.
    private let end: Double?

    /// Reads an event's properties; `nil` when they tell no consent.
    init?(_ properties: JSONObject) {
        guard let category = properties["category"]?.string, let action = properties["action"]?.string,
            ["accept", "reject"].contains(action)
        else { return nil }
        self.category = category
        isAccepted = action == "accept"
        end = properties["valid_until"]?.number?.double
    }

    /// Whether the customer agrees from that moment on. An end that comes later is not waited for (ours).
    func isGiven(at moment: Moment) -> Bool { isAccepted && end.map { moment.unixSeconds < $0 } ?? true }

    /// What the event did.
    func finding(isKnown: Bool, in project: String) -> Finding {
        Finding(
            "consent", .noted, expected: .text("a consent category of \(project)"), found: .text(category),
            note: isKnown
                ? "The customer's consent attribute follows." : "No such category is there, so nothing follows.",
            source: "page on consent management; that the attribute follows inferred")
    }
}
