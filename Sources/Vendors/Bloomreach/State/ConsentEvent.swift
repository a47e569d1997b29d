import Emulation
import JSON
import Tokens

/// An event by which a customer agrees to a category, or no longer does.
///
/// Source: documented, page on tracking consent: events of type `consent` with `action` (`accept`, `reject`), `category` and
/// `valid_until` (`unlimited`, or Unix seconds; needed to accept), and that an event which lacks one of them or has another
/// action revokes. That the attribute follows at once is inferred; that categories of no project are not kept is ours.
struct ConsentEvent {
    /// The type of these events.
    static let type = "consent"

    let category: String
    private let isAccepted: Bool
    private let end: End

    private enum End {
        case never
        /// Unix seconds.
        case at(Double)
        /// There is none, or none that can be read.
        case missing
    }

    /// Reads an event's properties; `nil` when they name no category.
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

    /// Whether the customer agrees from that moment on. An end that comes later is not waited for (ours).
    func isGiven(at moment: Moment) -> Bool {
        guard isAccepted else { return false }
        return switch end {
        case .never: true
        case .at(let seconds): moment.unixSeconds < seconds
        case .missing: false
        }
    }

    /// What the event did.
    func finding(isKnown: Bool, in project: String, at moment: Moment) -> Finding {
        let note =
            if !isKnown {
                "No such category is there, so nothing follows."
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
