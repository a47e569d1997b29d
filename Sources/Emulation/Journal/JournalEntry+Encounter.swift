import JSON
import Wire

extension JournalEntry {
    /// The exchange as conditions see it.
    var encounter: Encounter {
        Encounter(request: request, claims: record.claims, moment: moment, reason: explanation)
    }

    /// The exchange as people may see it: with its secrets masked as in the entry's JSON.
    var maskedEncounter: Encounter {
        var request = request
        request.target = Mask.target(request.target)
        request.fields = FieldLines(
            request.fields.map { ($0.name, Mask.field($0.name, $0.value, hiding: record.secrets)) })
        request.body = maskedBody
        return Encounter(request: request, claims: record.claims, moment: moment, reason: explanation)
    }

    private var maskedBody: [UInt8] {
        if let value = try? JSON.parse(request.body) { return Mask.members(record.secrets, of: value).bytes }
        if record.secrets.isEmpty { return request.body }
        // Which field of a form is the secret one depends on who reads it, so all are hidden.
        let fields = request.body.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        return Array(
            fields.map { $0.prefix { $0 != UInt8(ascii: "=") } + Array("=***".utf8) }.joined(separator: "&".utf8))
    }

    /// The exchange in a line: which route, what was asked, what came of it, and why.
    var summary: String {
        let route = record.vendor.map { "\($0) \(record.route ?? "without a route"): " } ?? ""
        let failure = record.failure.map { " \($0)" } ?? ""
        let reason = explanation.map { " (\($0))" } ?? ""
        return
            "\(route)\(request.method.rawValue) \(Mask.target(request.target)) → \(response.status.code)\(failure)\(reason)"
    }

    /// The route that somebody meant whose path found none; `nil` where none comes close.
    var meantRoute: RouteTable.Neighbour? {
        guard record.route == nil else { return nil }
        return record.guide?.table.closest(to: request.method, request.path)
    }

    /// Whether the exchange is one of that route, or was meant to be.
    func isMeant(for route: String) -> Bool { record.route == route || meantRoute?.route == route }

    /// The routes that come closest; `nil` where the request found one.
    func nearestRoutes(in routes: RouteTable) -> [String]? {
        record.route == nil ? routes.nearest(to: request.method, request.path) : nil
    }
}
