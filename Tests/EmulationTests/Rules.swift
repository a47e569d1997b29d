import HTTPTypes
import JSON
import Tokens
import Wire

@testable import Emulation

/// Faults, scenarios and conditions from YAML for a small vendor `v`, and exchanges to try them on.
enum Rules {
    static let scope = InterventionScope(
        vendor: "v", routes: ["r", "book.list", "book.get", "q"], failures: ["f", "expired", "busy"],
        actions: [
            ActionListing(
                name: "remove", about: "removes a user",
                members: [ActionMember("user", "the user", isRequired: true), ActionMember("note", "a note")])
        ])

    static let request = Request(method: .get, target: "/")

    static func node(_ yaml: String) throws -> FixtureNode {
        try FixtureNode(file: FixtureStore.File(path: "rules.yaml", bytes: Array(yaml.utf8)))
    }

    static func fault(_ yaml: String) throws -> Fault { try Fault(node(yaml), scope) }

    static func scenario(_ yaml: String) throws -> Scenario { try Scenario(node(yaml), scope) }

    static func condition(_ yaml: String) throws -> ExchangeCondition {
        try ExchangeCondition(node(yaml).mapping(ExchangeCondition.members))
    }

    /// An exchange with a token of that expiry time.
    static func matchContext(exp: Int? = nil, method: HTTPRequest.Method = .get, fields: FieldLines = [:])
        -> MatchContext
    {
        MatchContext(
            request: Request(method: method, target: "/", fields: fields),
            claims: exp.map { ["exp": JSON($0), "sub": "ada"] }, token: exp.map { CompactToken("token-\($0)") },
            moment: Moment(unixSeconds: 1_800_000_000))
    }
}

extension Interventions {
    /// The outcomes of calls to these routes: the failure's name, the response's status, or `nil`.
    mutating func outcomes(_ routes: [String], vendor: String = "v", exp: Int? = nil) -> [String?] {
        routes.map { route in
            switch decide(Rules.matchContext(exp: exp), vendor: vendor, route: route)?.effect.replacement {
            case .failure(let name, _)?: name
            case .response(let response)?: "\(response.status.code)"
            case nil: nil
            }
        }
    }
}
