import JSON
import Wire

extension JournalEntry {
    /// The exchange as conditions see it, and what judging them may take.
    func matchContext(_ budget: WorkBudget) -> MatchContext {
        MatchContext(
            request: request, claims: record.claims, moment: moment, reason: explanation, budget: budget)
    }

    /// The route that somebody meant whose path found none; `nil` where none comes close.
    var meantRoute: RouteTable.Neighbour? {
        guard record.route == nil else { return nil }
        return record.guide?.closest(to: request.method, request.path)
    }

    /// Whether the exchange is one of that route, or was meant to be.
    func isMeant(for route: String) -> Bool { record.route == route || meantRoute?.route == route }

    /// The routes that come closest; `nil` where the request found one.
    func nearestRoutes(in routes: RouteTable) -> [String]? {
        record.route == nil ? routes.nearest(to: request.method, request.path) : nil
    }
}
