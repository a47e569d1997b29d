import Emulation
import JSON
import Tokens

/// An event that gives or revokes a customer's consent to a category.
///
/// Source: documented, page on tracking consent: events of type `consent` with `action` (`accept`, `reject`),
/// `category` and `valid_until` (`unlimited`, or Unix seconds; required to accept); one that lacks any of them or has
/// another action revokes. That the attribute changes at once is inferred; ignoring categories of no project is ours.
struct ConsentEvent {
    static let type = "consent"

    let category: String
    private let isAccepted: Bool
    private let end: End

    private enum End {
        case never
        /// Unix seconds.
        case at(Double)
        /// Absent or unreadable.
        case missing
    }

    /// Reads an event's properties; `nil` if they name no category.
    init?(_ properties: JSONObject) {
        guard let category = properties["category"]?.string else { return nil }
        self.category = category
        isAccepted = properties["action"]?.string == "accept"
        let until = properties["valid_until"]
        end =
            if until?.string == "unlimited" {
                .never
            } else if let seconds = NumericDate(until).value {
                .at(seconds)
            } else {
                .missing
            }
    }

    /// Whether the customer consents from this moment on. A later end does not revoke it (ours).
    func isGiven(at moment: Moment) -> Bool {
        guard isAccepted else { return false }
        return switch end {
        case .never: true
        case .at(let seconds): moment.unixSeconds < seconds
        case .missing: false
        }
    }

    /// The effect of the event.
    func finding(isKnown: Bool, in project: String, at moment: Moment) -> Finding {
        let note =
            if !isKnown {
                "There is no such category, so nothing changes."
            } else if isGiven(at: moment) {
                "The customer agrees from now on."
            } else if isAccepted, case .missing = end {
                "The customer no longer agrees: to accept needs valid_until, unlimited or Unix seconds."
            } else {
                "The customer no longer agrees."
            }
        return Finding(
            "consent", .noted, expected: .text("a consent category of \(project)"), found: .text(category), note: note,
            source: "page on tracking consent; that the attribute follows inferred")
    }
}
