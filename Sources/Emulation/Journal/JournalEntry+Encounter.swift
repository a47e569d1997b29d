import JSON
import Wire

extension JournalEntry {
    /// The exchange as conditions see it, with the budget for judging them.
    func matchContext(_ budget: WorkBudget) -> MatchContext {
        MatchContext(
            request: request, claims: record.claims, moment: moment, reason: explanation, budget: budget)
    }

    /// The route that the client probably meant when its path matched none; `nil` when none comes close.
    var meantRoute: RouteTable.Neighbour? {
        guard record.route == nil else { return nil }
        return record.guide?.closest(to: request.method, request.path)
    }

    /// Whether the exchange matched that route, or was meant to.
    func isMeant(for route: String) -> Bool { record.route == route || meantRoute?.route == route }

    /// The closest routes; `nil` when the request matched one.
    func nearestRoutes(in routes: RouteTable) -> [String]? {
        record.route == nil ? routes.guide.nearest(to: request.method, request.path) : nil
    }
}
