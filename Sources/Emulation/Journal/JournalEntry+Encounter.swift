import JSON
import Wire

extension JournalEntry {
    /// The exchange as conditions see it, and what judging them may take.
    func encounter(_ budget: WorkBudget) -> Encounter {
        Encounter(
            request: request, claims: record.claims, moment: moment, reason: explanation, budget: budget)
    }

    /// The routes that come closest; `nil` where the request found one.
    func nearestRoutes(in routes: RouteTable) -> [String]? {
        record.route == nil ? routes.nearest(to: request.method, request.path) : nil
    }
}
