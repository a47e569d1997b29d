import HTTPTypes
import JSON

/// The page about a refusal that no redirect may carry to the app.
struct OktaErrorPage: OktaPage {
    var status: HTTPResponse.Status = .badRequest
    var failure: String
    var error: String
    var description: String
    /// The number of the journal's entry, if it is known already.
    var entry: Int?

    var name: String { "error" }
    var title: String { "The request was refused" }

    var introduction: [OktaHTML] {
        [
            .tag("p", ["role": "alert", "class": "alert", "data-failure": failure], description),
            .tag("dl") {
                row("Status", "status", String(status.code))
                row("Error", "error", error)
                row("Failure", "failure", failure)
            },
        ]
    }

    func conclusion(_ links: OktaPageLinks) -> [OktaHTML] {
        [
            .tag("p", ["class": "note"]) {
                "Which rule refused it, and why, is in "
                OktaHTML.tag(
                    "a", ["href": links.journal(entry: entry, failure: failure), "data-journal": ""],
                    entry.map { "entry \($0) of the journal" } ?? "the journal’s newest entry with this failure")
                "."
            },
            .tag("p", ["class": "note"]) {
                OktaHTML.tag(
                    "code", "GET /_understudy/journal" + (entry.map { "/\($0)" } ?? "?failure=\(failure)&last=1"))
            },
        ]
    }

    private func row(_ label: String, _ name: String, _ value: String) -> OktaHTML {
        .tag("div") {
            OktaHTML.tag("dt", label)
            OktaHTML.tag("dd", ["data-error": name], value)
        }
    }

    var json: JSON { ["error": .string(error), "error_description": .string(description)] }
}
